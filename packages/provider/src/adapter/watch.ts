import { AgenticError } from "@shedkit/types";
import { cancelledFailure, type FailureContext } from "../failure.js";

/** How long a response may say nothing unless the configuration says otherwise. */
export const IDLE_MS = 90_000;

const TICKS = 4;

/** Without a reason, the end of each answer would make an exception with a stack. */
const OVER = new Error("the answer is over");

/**
 * Aborts a stream that says nothing for too long while it is waited for: what its reader takes its time for is not its
 * silence. One timer for the whole stream.
 */
export class Watch {
  readonly #controller = new AbortController();
  readonly #idleMs: number;
  readonly #outer: AbortSignal | undefined;
  readonly #onAbort = (): void => this.#end(this.#outer?.reason);
  #over = false;
  #timer: ReturnType<typeof setInterval> | undefined;
  #waits = 0;
  #waiting = false;
  #silent = false;

  constructor(idleMs: number, outer: AbortSignal | undefined) {
    this.#idleMs = idleMs;
    this.#outer = outer;
    if (outer?.aborted) this.#onAbort();
    outer?.addEventListener("abort", this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the signal has aborted: cheaper to ask than the signal. */
  get over(): boolean {
    return this.#over;
  }

  start(): void {
    let last = 0;
    let quiet = 0;
    this.#timer = setInterval(() => {
      quiet = this.#waiting && this.#waits === last ? quiet + 1 : 0;
      last = this.#waits;
      if (quiet < TICKS) return;
      this.#silent = true;
      this.#end();
    }, this.#idleMs / TICKS);
  }

  /** The stream is waited for, from now on. */
  wait(): void {
    this.#waits++;
    this.#waiting = true;
  }

  /** It is not waited for. */
  rest(): void {
    this.#waiting = false;
  }

  /** Ends the request, if it still runs, and the watching. */
  stop(): void {
    clearInterval(this.#timer);
    this.#outer?.removeEventListener("abort", this.#onAbort);
    if (!this.#over) this.#end(OVER);
  }

  #end(reason?: unknown): void {
    this.#over = true;
    this.#controller.abort(reason);
  }

  /** The failure of a stream that was aborted from outside, or for its silence. */
  verdict({ provider, model }: FailureContext): AgenticError | undefined {
    if (this.#outer?.aborted) return cancelledFailure(this.#outer);
    if (!this.#silent) return undefined;
    return new AgenticError(
      "generation",
      `${provider} said nothing for ${this.#idleMs} ms. Raise idleTimeoutMs if the model needs longer.`,
      { kind: "timeout", provider, model },
      { retryable: true },
    );
  }
}
