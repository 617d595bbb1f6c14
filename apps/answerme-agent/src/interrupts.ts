/**
 * Ctrl-C: the first stops what runs, a second one the program. Between turns the first one ends the program, unless
 * a prompt holds the terminal and reads the key itself.
 */
export class Interrupts {
  readonly #leave: () => void;
  #stop: (() => void) | undefined;
  #pressed = false;

  /** `leave` ends the program at once. */
  constructor(leave: () => void) {
    this.#leave = leave;
    process.on("SIGINT", this.#onSignal);
  }

  /** Runs something that `stop` stops. */
  async during<T>(stop: () => void, run: () => Promise<T>): Promise<T> {
    this.#stop = stop;
    this.#pressed = false;
    try {
      return await run();
    } finally {
      this.#stop = undefined;
    }
  }

  /** Whether the last thing run was stopped by ctrl-C. */
  get pressed(): boolean {
    return this.#pressed;
  }

  readonly #onSignal = () => {
    if (this.#stop === undefined || this.#pressed) return this.#leave();
    this.#pressed = true;
    this.#stop();
  };

  [Symbol.dispose](): void {
    process.off("SIGINT", this.#onSignal);
  }
}
