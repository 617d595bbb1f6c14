import type { Embedder } from "@shedkit/types";

const BATCH = 64;
/** How much of a text is embedded, in UTF-16 units: what embedders read of it at most. */
const EMBEDDED = 2000;

/** Vectors of what has been looked through, by the ids of records: each text is embedded once. */
export class VectorIndex {
  readonly #embedder: Embedder;
  readonly #vectors = new Map<string, Float32Array>();

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
  }

  /** How near each entry is to the query, from -1 to 1; undefined where the embedder fails. */
  async similarities(
    query: string,
    entries: readonly { recordId: string; content: string }[],
  ): Promise<number[] | undefined> {
    try {
      const missing = entries.filter(({ recordId }) => !this.#vectors.has(recordId));
      for (let at = 0; at < missing.length; at += BATCH) {
        const batch = missing.slice(at, at + BATCH);
        const vectors = await this.#embedder.embed(batch.map(({ content }) => content.slice(0, EMBEDDED)));
        for (const [i, { recordId }] of batch.entries()) {
          const vector = vectors[i];
          if (vector) this.#vectors.set(recordId, normalised(vector));
        }
      }
      const [asked] = await this.#embedder.embed([query.slice(0, EMBEDDED)]);
      if (!asked) return undefined;
      const wanted = normalised(asked);
      return entries.map(({ recordId }) => dot(wanted, this.#vectors.get(recordId)));
    } catch {
      return undefined; // words alone find it then
    }
  }
}

function normalised(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}

function dot(a: Float32Array, b: Float32Array | undefined): number {
  if (!b) return 0;
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
