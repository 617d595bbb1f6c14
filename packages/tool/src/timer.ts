const MAX_TIMER_MS = 2 ** 31 - 1; // a longer one would fire at once

/** How long a call may take. Stands still while the call waits for what is not its doing. */
export class CallTimer {
  /** Undefined: for ever. */
  readonly ms: number | undefined;
  #expire: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #holds = 0;

  constructor(ms: number | undefined) {
    this.ms = ms;
  }

  /** Calls back, once, when the time is up. */
  start(expire: () => void): void {
    this.#expire = expire;
    this.#run();
  }

  stop(): void {
    this.#expire = undefined;
    clearTimeout(this.#timer);
  }

  /** Does not run while `wait` does, and begins anew after it. */
  async hold<T>(wait: () => T | Promise<T>): Promise<T> {
    this.#holds++;
    clearTimeout(this.#timer);
    try {
      return await wait();
    } finally {
      this.#holds--;
      this.#run();
    }
  }

  #run(): void {
    if (this.#expire === undefined || this.#holds > 0 || this.ms === undefined || this.ms > MAX_TIMER_MS) return;
    this.#timer = setTimeout(this.#expire, this.ms);
  }
}
