import { cancelledFailure } from "../failure.js";
import { delay } from "../retry.js";

/** How many requests may go out. */
export interface RequestLimitOptions {
  /** Requests at the same time. Default: no limit. */
  concurrent?: number | undefined;
  /** Requests that begin within a minute. Default: no limit. */
  perMinute?: number | undefined;
  /** Milliseconds, rising. Default: `performance.now`. */
  now?: (() => number) | undefined;
}

const MINUTE = 60_000;

/** A limit of concurrency and rate that sessions share. Those who wait are served in turn. */
export class RequestLimit {
  readonly #options: RequestLimitOptions;
  readonly #waiting: (() => void)[] = [];
  readonly #begun: number[] = [];
  #running = 0;

  constructor(options: RequestLimitOptions) {
    this.#options = options;
  }

  /** Waits for a place; returns what gives it back. Rejects with AgenticError `cancelled` when `signal` aborts. */
  async take(signal?: AbortSignal): Promise<() => void> {
    await this.#place(signal);
    try {
      await this.#turn(signal);
    } catch (error) {
      this.#free();
      throw error;
    }
    let held = true;
    return () => {
      if (held) this.#free();
      held = false;
    };
  }

  async #place(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw cancelledFailure(signal);
    if (this.#running < (this.#options.concurrent ?? Number.POSITIVE_INFINITY)) {
      this.#running++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        const at = this.#waiting.indexOf(enter);
        if (at >= 0) this.#waiting.splice(at, 1);
        if (signal !== undefined) reject(cancelledFailure(signal));
      };
      const enter = (): void => {
        signal?.removeEventListener("abort", onAbort);
        resolve(); // the place goes from one to the next: the count stays
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(enter);
    });
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    const most = this.#options.perMinute;
    if (most === undefined) return;
    const now = this.#options.now ?? (() => performance.now());
    const oldest = this.#begun.length >= most ? this.#begun[this.#begun.length - most] : undefined;
    const start = oldest === undefined ? now() : Math.max(now(), oldest + MINUTE);
    this.#begun.push(start); // booked before waiting, so that two who come together do not take one turn
    if (this.#begun.length > most) this.#begun.shift();
    const wait = start - now();
    if (wait > 0) await delay(wait, signal);
  }

  #free(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running--;
    else next();
  }
}
