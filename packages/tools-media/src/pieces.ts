const MIB = 1024 * 1024;

/** Each further MiB of a download, told while it goes on; who listens slowly hears of the last one. */
export class Pieces {
  #bytes = 0;
  #said = 0;
  #over = false;
  #wake: () => void = () => undefined;

  tell(bytes: number): void {
    this.#bytes = bytes;
    if (bytes - this.#said >= MIB) this.#wake();
  }

  end(): void {
    this.#over = true;
    this.#wake();
  }

  async *told(): AsyncGenerator<number, void, void> {
    while (!this.#over) {
      if (this.#bytes - this.#said >= MIB) {
        this.#said = this.#bytes;
        yield this.#bytes;
        continue;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
