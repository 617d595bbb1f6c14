/**
 * What a server does when it has just started: it says what it works on, and knows half of its project until then. Once it has
 * been done with it all, what it works on later holds nobody up.
 */
export class Beginning {
  readonly #work = new Set<number | string>();
  #over = false;
  #told: () => void = () => {};
  readonly #end = new Promise<void>((resolve) => {
    this.#told = resolve;
  });

  /** The server begins or ends a piece of work. */
  heard(token: number | string, kind: string | undefined): void {
    if (this.#over) return;
    if (kind === "begin") this.#work.add(token);
    if (kind !== "end" || !this.#work.delete(token) || this.#work.size > 0) return;
    this.#over = true;
    this.#told();
  }

  /** Waits for what the server works on, at most so long. Rejects with the reason of the signal. */
  async over(ms: number, ended: Promise<unknown>, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#over || this.#work.size === 0) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(late);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const late = setTimeout(() => {
        this.#over = true; // it is not waited for twice
        done();
      }, ms);
      signal.addEventListener("abort", done);
      Promise.race([this.#end, ended]).then(done);
    });
    signal.throwIfAborted();
  }
}
