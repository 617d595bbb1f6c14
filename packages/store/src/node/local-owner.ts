import { newId } from "@shedkit/types";
import { isProcessAlive, processName } from "./process-name.js";

/** Who is open in this thread; one set, however many copies of this module there are. */
const MARK = Symbol.for("shedkit.store.owners");
const global = globalThis as { [MARK]?: Set<string> };

/** Names one open storage, so that every process of the machine can tell whether it still works. */
export class LocalOwner {
  readonly id = `${processName()}/${thread()}/${newId()}`;
  readonly #open: Set<string>;

  constructor() {
    global[MARK] ??= new Set();
    this.#open = global[MARK];
    this.#open.add(this.id);
  }

  /** Whether the owner of that id is open; `undefined` where it cannot be told: on another machine, in another thread. */
  isAlive(id: string): boolean | undefined {
    const [processId = "", threadId] = id.split("/");
    if (processId !== processName()) return isProcessAlive(processId);
    return threadId === thread() ? this.#open.has(id) : undefined;
  }

  close(): void {
    this.#open.delete(this.id);
  }
}

function thread(): string {
  return `${process.getBuiltinModule("node:worker_threads").threadId}`;
}
