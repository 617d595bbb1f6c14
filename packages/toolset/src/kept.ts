import type { KeptResults } from "@shedkit/tool";

/** How much text is kept in memory by default, in UTF-16 units. */
const MAX_KEPT = 32_000_000;

/** Keeps long results in memory. When there are too many, the oldest make room. */
export class MemoryKeptResults implements KeptResults {
  readonly #texts = new Map<string, string>();
  readonly #max: number;
  #size = 0;

  constructor(max: number = MAX_KEPT) {
    this.#max = max;
  }

  keep(callId: string, text: string): string {
    const handle = `result:${callId}`;
    this.#drop(handle);
    this.#texts.set(handle, text);
    this.#size += text.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#size <= this.#max || oldest === handle) break;
      this.#drop(oldest);
    }
    return handle;
  }

  get(handle: string): string | undefined {
    return this.#texts.get(handle);
  }

  #drop(handle: string): void {
    this.#size -= this.#texts.get(handle)?.length ?? 0;
    this.#texts.delete(handle);
  }
}
