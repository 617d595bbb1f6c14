import type { MemoryStore } from "@shedkit/store";
import type { JsonValue, MemoryAccess, SessionId } from "@shedkit/types";
import type { SessionLog } from "./log.js";

/** The working facts of a session: each change is a record, the newest also stands in the memory store. */
export class WorkingMemory implements MemoryAccess {
  readonly #log: SessionLog;
  readonly #store: MemoryStore;
  readonly #sessionId: SessionId;
  #tail: Promise<unknown> = Promise.resolve();
  /** Called before a change is stored. */
  onEdit: () => void = () => undefined;

  constructor(log: SessionLog, store: MemoryStore, sessionId: SessionId) {
    this.#log = log;
    this.#store = store;
    this.#sessionId = sessionId;
  }

  async facts(): Promise<readonly JsonValue[]> {
    await this.#tail;
    return this.#log.state.working?.facts ?? [];
  }

  /** One edit at a time, each on the facts that the one before it left. */
  edit(change: (facts: readonly JsonValue[]) => readonly JsonValue[]): Promise<number> {
    const edited = this.#tail.then(async () => {
      const before = this.#log.state.working;
      const version = (before?.version ?? 0) + 1;
      const facts = change(before?.facts ?? []);
      this.onEdit();
      await this.#log.append({ type: "workingMemory", version, facts });
      await this.#store.write(this.#sessionId, "working", this.#log.state.working);
      return version;
    });
    this.#tail = edited.catch(() => undefined);
    return edited;
  }
}
