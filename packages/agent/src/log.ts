import { AgenticError, type SessionRecord, type SessionRecordBody } from "@shedkit/types";
import type { LoopEffects } from "./effects.js";
import type { SessionState } from "./session-state.js";

/** Writes a session's records: one writer, in order, each stored before anybody sees it. */
export class SessionLog {
  readonly state: SessionState;
  readonly #effects: LoopEffects;
  readonly #listeners = new Set<(record: SessionRecord) => void>();
  /** The append that was handed in last, as long as it runs. */
  #tail: Promise<void> | undefined;
  #broken: AgenticError | undefined;
  /** How many records have been handed in and are not stored yet. */
  pending = 0;

  constructor(state: SessionState, effects: LoopEffects) {
    this.state = state;
    this.#effects = effects;
  }

  /**
   * Stores the records together, then applies and shows them. After a failure it refuses everything: what the store
   * holds is not known then, and only reading it again tells.
   */
  append(...bodies: readonly SessionRecordBody[]): Promise<void> {
    this.pending += bodies.length;
    const stored = this.#tail ? this.#tail.then(() => this.#store(bodies)) : this.#store(bodies);
    const over = () => {
      this.pending -= bodies.length;
      if (this.#tail === tail) this.#tail = undefined;
    };
    const tail = stored.then(over, over);
    this.#tail = tail;
    return stored;
  }

  /** Calls back with each record once it is stored; returns the function that ends it. */
  listen(listener: (record: SessionRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when all that was handed in is stored, or has failed. */
  async flush(): Promise<void> {
    await this.#tail;
  }

  /** A record as it would be stored. A message that was made for its record shares its id. */
  stamp(body: SessionRecordBody): SessionRecord {
    const own = body.type === "conversation" && body.message.type !== "user";
    return { id: own ? body.message.id : this.#effects.newId(), v: 1, at: this.#effects.now(), ...body };
  }

  async #store(bodies: readonly SessionRecordBody[]): Promise<void> {
    if (this.#broken) throw this.#broken;
    const records = bodies.map((body) => this.stamp(body));
    try {
      await this.#effects.append(records);
    } catch (error) {
      this.#broken = AgenticError.from(error);
      throw this.#broken;
    }
    for (const record of records) {
      this.state.apply(record);
      for (const listener of this.#listeners) listener(record);
    }
  }
}
