/** Who waits for the next item, as `map` makes it. */
interface Waiting<T> {
  take(item: T): boolean;
  end(): void;
}

const END = { done: true, value: undefined } as const;

/**
 * A queue between one writer and one reader. Pushing never waits: what is pushed before anybody reads is kept.
 * Leaving the iterator calls `onLeave` and waits for it, also while a `next()` is waiting: that one ends at once.
 */
export class Channel<T> implements AsyncIterable<T> {
  #items: T[] = [];
  #head = 0;
  #closed = false;
  readonly #waiting: Waiting<T>[] = [];
  readonly #onLeave: (() => void | Promise<void>) | undefined;

  constructor(onLeave?: () => void | Promise<void>) {
    this.#onLeave = onLeave;
  }

  push(item: T): void {
    if (this.#closed) return;
    const [waiting] = this.#waiting;
    if (!waiting) this.#items.push(item);
    else if (waiting.take(item)) this.#waiting.shift();
  }

  /** No more items: the reader gets what is left, then the end. */
  close(): void {
    this.#closed = true;
    for (const waiting of this.#waiting.splice(0)) waiting.end();
  }

  [Symbol.asyncIterator](): AsyncIterator<T, void, void> {
    return this.read((item) => item);
  }

  /**
   * Reads what `map` makes of each item; undefined leaves it out. Every token comes through here: what is left out costs
   * no promise, and what is not costs one.
   */
  read<U>(map: (item: T) => U | undefined): AsyncIterator<U, void, void> {
    return {
      next: () =>
        new Promise((resolve, reject) => {
          const take = (item: T): boolean => {
            try {
              const value = map(item);
              if (value === undefined) return false;
              resolve({ done: false, value });
            } catch (error) {
              reject(error);
            }
            return true;
          };
          while (this.#head < this.#items.length) if (take(this.#next())) return;
          if (this.#closed) resolve(END);
          else this.#waiting.push({ take, end: () => resolve(END) });
        }),
      return: async () => {
        const ended = this.#closed && this.#head === this.#items.length;
        this.close();
        this.#items = [];
        this.#head = 0;
        if (!ended) await this.#onLeave?.();
        return END;
      },
    };
  }

  #next(): T {
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
