import type { MemoryStore } from "@shedkit/store";
import { AgenticError, type JsonValue, type MemoryAccess, type SessionId } from "@shedkit/types";
import type { SessionLog } from "../log/log.js";

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

  /**
   * One edit at a time, each on the facts that the one before it left. Rejects with AgenticError `memory` where what
   * comes out is no list of JSON values; the facts stay as they were then.
   */
  edit(change: (facts: readonly JsonValue[]) => readonly JsonValue[]): Promise<number> {
    const edited = this.#tail.then(async () => {
      const before = this.#log.state.working;
      const version = (before?.version ?? 0) + 1;
      const facts = asStored(change(before?.facts ?? []));
      this.onEdit();
      await this.#log.append({ type: "workingMemory", version, facts });
      await this.#store.write(this.#sessionId, "working", this.#log.state.working);
      return version;
    });
    this.#tail = edited.catch(() => undefined);
    return edited;
  }
}

/** The facts as every store would give them back: what none can hold must not get into the log. */
function asStored(facts: readonly JsonValue[]): readonly JsonValue[] {
  try {
    const stored: unknown = JSON.parse(JSON.stringify(facts) ?? "null");
    if (Array.isArray(stored)) return stored;
    throw new TypeError(`they are ${facts === null ? "null" : typeof facts}, not a list`);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `The facts cannot be remembered: ${why}. Give a list of texts, or of other JSON values.`;
    throw new AgenticError("memory", message, { reason: "not JSON" }, { cause });
  }
}
