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

  /**
   * Resolves when a ctrl-C that came just now is known of. It ends processes that the program started too, and that they
   * are gone may be heard of first.
   */
  async settled(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 50));
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
