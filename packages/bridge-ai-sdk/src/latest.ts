/** A stream that holds its last item alone: who reads slowly misses those between. */
export class Latest<T> implements AsyncIterable<T> {
  #item: { value: T } | undefined;
  #ended = false;
  #wake: (() => void) | undefined;

  set(value: T): void {
    this.#item = { value };
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    while (true) {
      const item = this.#item;
      this.#item = undefined;
      if (item !== undefined) yield item.value;
      else if (this.#ended) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
