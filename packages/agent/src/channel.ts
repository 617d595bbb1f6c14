/**
 * A queue between one writer and one reader. Pushing never waits: what is pushed before anybody reads is kept.
 * Leaving the iterator calls `onLeave` and waits for it.
 */
export class Channel<T> implements AsyncIterable<T> {
  #items: T[] = [];
  #head = 0;
  #closed = false;
  #wake: (() => void) | undefined;
  readonly #onLeave: (() => void | Promise<void>) | undefined;

  constructor(onLeave?: () => void | Promise<void>) {
    this.#onLeave = onLeave;
  }

  push(item: T): void {
    if (this.#closed) return;
    this.#items.push(item);
    this.#wake?.();
  }

  /** No more items: the reader gets what is left, then the end. */
  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    let finished = false;
    try {
      for (;;) {
        while (this.#head < this.#items.length) yield this.#take();
        if (this.#closed) break;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
      finished = true;
    } finally {
      if (!finished) {
        this.close();
        this.#items = [];
        await this.#onLeave?.();
      }
    }
  }

  #take(): T {
    const item = this.#items[this.#head++] as T;
    if (this.#head === this.#items.length) {
      this.#items = [];
      this.#head = 0;
    }
    return item;
  }
}
