/** Texts on their way from who makes them to who reads them. */
export class TextQueue {
  #texts: string[] = [];
  #closed = false;
  #wake: () => void = () => {};

  push(text: string): void {
    this.#texts.push(text);
    this.#wake();
  }

  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** What is there, in pieces of at most `max` characters, until it is closed. */
  async *pieces(max: number): AsyncGenerator<string, void, void> {
    while (true) {
      const text = this.#texts.join("");
      this.#texts = [];
      for (let at = 0; at < text.length; ) {
        let end = Math.min(at + max, text.length);
        if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1] ?? "")) end--;
        yield text.slice(at, end);
        at = end;
      }
      if (this.#texts.length > 0) continue;
      if (this.#closed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
