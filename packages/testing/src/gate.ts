/**
 * A door between a test and what it tests: the one side waits at it, the test sees that it got there, and opens.
 *
 * ```ts
 * const gate = new Gate();
 * const provider = new ScriptedProvider([["Hel", { wait: gate }, "lo"]]);
 * // ... start a turn
 * await gate.reached; // "Hel" is out, "lo" is not
 * gate.open();
 * ```
 */
export class Gate {
  /** Resolves when somebody waits at the gate for the first time. */
  readonly reached: Promise<void>;
  readonly #opened: Promise<void>;
  #reach: () => void = () => {};
  #open: () => void = () => {};

  constructor() {
    this.reached = new Promise((resolve) => {
      this.#reach = resolve;
    });
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  /** Lets everybody through, now and later. */
  open(): void {
    this.#open();
  }

  /** Waits until the gate opens or `signal` aborts; true when it opened. */
  async wait(signal?: AbortSignal): Promise<boolean> {
    this.#reach();
    if (!signal) {
      await this.#opened;
      return true;
    }
    if (signal.aborted) return false;
    let onAbort: () => void = () => {};
    const aborted = new Promise<boolean>((resolve) => {
      onAbort = () => resolve(false);
      signal.addEventListener("abort", onAbort, { once: true });
    });
    const opened = await Promise.race([this.#opened.then(() => true), aborted]);
    signal.removeEventListener("abort", onAbort);
    return opened;
  }
}
