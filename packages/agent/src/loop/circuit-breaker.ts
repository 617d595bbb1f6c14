/** What a failure means for a model. */
export type BreakerVerdict =
  /** Below the threshold: the same model may be asked again. */
  { type: "notReached"; failures: number } | { type: "reached" };

/** Counts failures in a row. */
export class CircuitBreaker {
  readonly #threshold: number;
  #failures = 0;

  /** `threshold` failures in a row open it; at least 1. */
  constructor(threshold: number) {
    this.#threshold = Math.max(1, threshold);
  }

  /** One more failure. One that cannot pass by itself opens it at once. */
  failed(mayPass: boolean): BreakerVerdict {
    this.#failures++;
    if (mayPass && this.#failures < this.#threshold) return { type: "notReached", failures: this.#failures };
    this.#failures = 0;
    return { type: "reached" };
  }

  succeeded(): void {
    this.#failures = 0;
  }
}
