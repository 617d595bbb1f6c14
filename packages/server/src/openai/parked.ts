import type { SessionId } from "@shedkit/types";
import type { Answered, Asking, Listener } from "./asking.js";
import { CLIENT_CALL_MS } from "./client-tools.js";
import { ParamError } from "./error.js";

/** What a client says of a call. */
export interface CallResult {
  id: string;
  text: string;
  /** Where it stands in the request. */
  param: string;
  /** The call is not there before it. */
  orphan: boolean;
}

interface Parked {
  asking: Asking;
  timer: ReturnType<typeof setTimeout>;
}

/** Throws ParamError for a result of a call that nobody has made. */
export function refuseOrphans(results: readonly CallResult[]): void {
  const orphan = results.find((result) => result.orphan);
  if (orphan) throw new ParamError(orphan.param, `Nothing waits for the result of the call "${orphan.id}".`);
}

/** More than these do not wait: the oldest is broken off. */
const MOST = 100;

/** Answers that wait for calls that the client runs. One that is not gone on with for ten minutes is broken off. */
export class ParkedAnswers {
  readonly #parked = new Set<Parked>();

  /** All are broken off when `closing` aborts. */
  constructor(closing: AbortSignal) {
    closing.addEventListener("abort", () => {
      for (const parked of this.#parked) this.#drop(parked);
    });
  }

  /** The answer, or its next part. Lets go of the session where it is complete, or broke off. */
  async answered(asking: Asking, signal: AbortSignal, listener?: Listener): Promise<Answered> {
    let waits = false;
    try {
      const answered = await asking.answered(signal, listener);
      waits = answered.calls.length > 0 && answered.error === undefined && !signal.aborted;
      if (waits) this.#park(asking);
      return answered;
    } finally {
      if (!waits) await asking.leave();
    }
  }

  /** The answer that waits in a session. */
  in(session: SessionId): Asking | undefined {
    for (const { asking } of this.#parked) if (asking.sessionId === session) return asking;
    return undefined;
  }

  /**
   * The answer that waits for these results; they are given to it. Undefined where none does. Throws ParamError where one
   * of its calls has no result.
   */
  goOn(results: readonly CallResult[]): Asking | undefined {
    const known = new Map(results.map((result) => [result.id, result]));
    const parked = [...this.#parked].find(({ asking }) => asking.tools.calls.some(({ id }) => known.has(id)));
    if (parked === undefined) return undefined;
    const { calls } = parked.asking.tools;
    const missing = calls.find(({ id }) => !known.has(id));
    if (missing) {
      const param = results[0]?.param ?? "";
      throw new ParamError(param, `There is no result of the call "${missing.id}" of ${missing.name}.`);
    }
    this.#parked.delete(parked);
    clearTimeout(parked.timer);
    for (const { id } of calls) parked.asking.tools.answer(id, known.get(id)?.text ?? "");
    return parked.asking;
  }

  #park(asking: Asking): void {
    const parked: Parked = { asking, timer: setTimeout(() => this.#drop(parked), CLIENT_CALL_MS) };
    this.#parked.add(parked);
    const [oldest] = this.#parked;
    if (oldest !== undefined && this.#parked.size > MOST) this.#drop(oldest);
  }

  #drop(parked: Parked): void {
    if (!this.#parked.delete(parked)) return;
    clearTimeout(parked.timer);
    void parked.asking.leave().catch(() => undefined); // the log says what became of it
  }
}
