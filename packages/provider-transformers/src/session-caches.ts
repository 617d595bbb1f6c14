import type { DynamicCache } from "@huggingface/transformers";

/** What a session has evaluated: exactly these tokens, of exactly this text where that is known. */
export interface Evaluated {
  tokens: readonly number[];
  text: string | undefined;
  cache: DynamicCache;
}

const KEPT = 2; // sessions whose keys and values stay in memory

/** Keeps what the sessions used last have evaluated. */
export class SessionCaches {
  readonly #kept = new Map<string, Evaluated>();

  /** Takes a session's out, to go on with it: a generation changes it. */
  take(sessionId: string | undefined): Evaluated | undefined {
    if (sessionId === undefined) return undefined;
    const found = this.#kept.get(sessionId);
    this.#kept.delete(sessionId);
    return found;
  }

  async keep(sessionId: string | undefined, evaluated: Evaluated): Promise<void> {
    if (sessionId === undefined) return void (await evaluated.cache.dispose());
    const other = this.#kept.get(sessionId);
    this.#kept.delete(sessionId);
    this.#kept.set(sessionId, evaluated);
    await other?.cache.dispose();
    const [oldest] = this.#kept.keys();
    if (this.#kept.size <= KEPT || oldest === undefined) return;
    const dropped = this.#kept.get(oldest);
    this.#kept.delete(oldest);
    await dropped?.cache.dispose();
  }

  async clear(): Promise<void> {
    const all = [...this.#kept.values()];
    this.#kept.clear();
    await Promise.all(all.map(({ cache }) => cache.dispose()));
  }
}
