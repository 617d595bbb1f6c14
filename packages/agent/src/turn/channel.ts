/**
 * A queue between one writer and one reader. Pushing never waits: what is pushed before anybody reads is kept.
 * Leaving the iterator calls `onLeave` and waits for it, also while a `next()` is waiting: that one ends at once.
 */
export class Channel<T> implements AsyncIterable<T> {
  #items: T[] = [];
  #head = 0;
  #closed = false;
  readonly #waiting: ((result: IteratorResult<T, void>) => void)[] = [];
  readonly #onLeave: (() => void | Promise<void>) | undefined;

  constructor(onLeave?: () => void | Promise<void>) {
    this.#onLeave = onLeave;
  }

  push(item: T): void {
    if (this.#closed) return;
    const waiting = this.#waiting.shift();
    if (waiting) waiting({ done: false, value: item });
    else this.#items.push(item);
  }

  /** No more items: the reader gets what is left, then the end. */
  close(): void {
    this.#closed = true;
    for (const waiting of this.#waiting.splice(0)) waiting({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): AsyncIterator<T, void, void> {
    return {
      next: async () => {
        if (this.#head < this.#items.length) return { done: false, value: this.#take() };
        if (this.#closed) return { done: true, value: undefined };
        return new Promise((resolve) => this.#waiting.push(resolve));
      },
      return: async () => {
        const ended = this.#closed && this.#head === this.#items.length;
        this.close();
        this.#items = [];
        this.#head = 0;
        if (!ended) await this.#onLeave?.();
        return { done: true, value: undefined };
      },
    };
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

/** What `map` makes of each item; undefined leaves it out. Leaving it leaves the source at once. */
export function mapped<T, U>(source: AsyncIterable<T>, map: (item: T) => U | undefined): AsyncIterable<U> {
  return {
    [Symbol.asyncIterator]() {
      const items = source[Symbol.asyncIterator]();
      return {
        next: async () => {
          for (;;) {
            const next = await items.next();
            if (next.done) return { done: true, value: undefined };
            const value = map(next.value);
            if (value !== undefined) return { done: false, value };
          }
        },
        return: async () => {
          await items.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
