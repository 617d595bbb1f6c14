import { AgenticError, type SessionRecord, type SessionRecordBody } from "@shedkit/types";
import type { LoopEffects } from "../loop/effects.js";
import type { SessionState } from "./session-state.js";

/** Writes a session's records: one writer, in order, each stored before anybody sees it. */
export class SessionLog {
  readonly state: SessionState;
  readonly #effects: LoopEffects;
  #listeners: readonly ((record: SessionRecord) => void)[] = [];
  /** The append that was handed in last. */
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
    const before = this.pending > 0 ? this.#tail : undefined;
    this.pending += bodies.length;
    this.#tail = before ? this.#storeAfter(before, bodies) : this.#store(bodies);
    return this.#tail;
  }

  /** Calls back with each record once it is stored; returns the function that ends it. */
  listen(listener: (record: SessionRecord) => void): () => void {
    this.#listeners = this.#listeners.concat(listener);
    return () => {
      this.#listeners = this.#listeners.filter((each) => each !== listener);
    };
  }

  /** Resolves when all that was handed in is stored, or has failed. */
  async flush(): Promise<void> {
    while (this.pending > 0) await settled(this.#tail);
  }

  /** A record as it would be stored. A message that was made for its record shares its id. */
  stamp(body: SessionRecordBody, at = this.#effects.now()): SessionRecord {
    const own = body.type === "conversation" && body.message.type !== "user";
    return recordOf(own ? body.message.id : this.#effects.newId(), at, body);
  }

  async #storeAfter(before: Promise<void>, bodies: readonly SessionRecordBody[]): Promise<void> {
    await settled(before);
    await this.#store(bodies);
  }

  /** Every record of a session comes through here: callbacks take a part of what an async function does. */
  #store(bodies: readonly SessionRecordBody[]): Promise<void> {
    const records: SessionRecord[] = [];
    let appended: Promise<unknown>;
    try {
      if (this.#broken) throw this.#broken;
      const now = this.#effects.now();
      for (const body of bodies) records.push(this.stamp(body, now));
      appended = this.#effects.append(records);
    } catch (error) {
      this.pending -= bodies.length;
      return Promise.reject(error);
    }
    return appended.then(
      () => this.#show(records),
      (error: unknown) => {
        this.pending -= bodies.length;
        const failure = AgenticError.from(error);
        this.#broken = stillBroken(failure);
        throw failure;
      },
    );
  }

  #show(records: readonly SessionRecord[]): void {
    try {
      for (const record of records) {
        this.state.apply(record);
        for (const listener of this.#listeners) listener(record);
      }
    } finally {
      this.pending -= records.length;
    }
  }
}

/** All the members of a kind of record. */
type Whole<T extends SessionRecord["type"]> = { [key in keyof Required<Extract<SessionRecord, { type: T }>>]: unknown };

/** The records of every step are written out: where members are spread, a record takes far more memory and time. */
function recordOf(id: string, at: number, body: SessionRecordBody): SessionRecord {
  const v = 1 as const;
  switch (body.type) {
    case "conversation": {
      const { type, message } = body;
      return { id, v, at, type, message } satisfies Whole<"conversation">;
    }
    case "step": {
      const { type, turnId, stepId, model, finish, usage } = body;
      return { id, v, at, type, turnId, stepId, model, finish, usage } satisfies Whole<"step">;
    }
    case "toolStarted": {
      const { type, toolCallId, attempt } = body;
      return { id, v, at, type, toolCallId, attempt } satisfies Whole<"toolStarted">;
    }
    case "toolFinished": {
      const { type, toolCallId, attempt, outcome } = body;
      return { id, v, at, type, toolCallId, attempt, outcome } satisfies Whole<"toolFinished">;
    }
    default:
      return { id, v, at, ...body };
  }
}

/** What is refused after a failure. */
function stillBroken(failure: AgenticError): AgenticError {
  const { code, message, details } = failure;
  const advice = "Nothing more is stored until the session is built again by its id; what was stored is there then.";
  return new AgenticError(code, `${message} ${advice}`, details, { cause: failure });
}

async function settled(work: Promise<unknown> | undefined): Promise<void> {
  try {
    await work;
  } catch {
    // Whoever began it is told.
  }
}
