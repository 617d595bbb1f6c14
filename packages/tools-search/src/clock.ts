/** The time of one search. */
export class Clock {
  readonly #ends: number;
  readonly #time: AbortSignal;
  readonly #cancelled: AbortSignal;
  /** Aborts when the search is cancelled, or its time is up. */
  readonly signal: AbortSignal;

  constructor(ms: number, cancelled: AbortSignal) {
    this.#ends = performance.now() + ms;
    this.#time = AbortSignal.timeout(ms);
    this.#cancelled = cancelled;
    this.signal = AbortSignal.any([cancelled, this.#time]);
  }

  /** True once time is up. */
  readonly late = (): boolean => performance.now() > this.#ends;

  /** True where something was left undone because time was up. */
  cut = false;

  /** For `.catch`: notes that something was left undone, if an error came of time being up alone; throws others. */
  readonly cutting = (error: unknown): undefined => {
    if (this.#cancelled.aborted || !this.#time.aborted || error !== this.#time.reason) throw error;
    this.cut = true;
    return undefined;
  };
}
