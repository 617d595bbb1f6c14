import type { VectorStore } from "@shedkit/store";
import type { Embedder, SessionId } from "@shedkit/types";

const BATCH = 64;
/** How much of a text is embedded, in UTF-16 units: what embedders read of it at most. */
const EMBEDDED = 2000;

/** A text in the log, by its place there. */
export interface IndexedText {
  seq: number;
  content: string;
}

/** Vectors of what the log says, by meaning. Texts are embedded once, in the order of the log. */
export interface VectorIndex {
  /** The place in the log up to which all has been embedded. */
  upTo(): Promise<number>;
  add(texts: readonly IndexedText[], signal: AbortSignal): Promise<void>;
  /** The nearest, best first; `score` from -1 to 1. */
  nearest(query: string, limit: number, signal: AbortSignal): Promise<{ seq: number; score: number }[]>;
}

/** In the store where it keeps vectors, else in memory: a process then embeds the log at its first search. */
export function vectorIndex(embedder: Embedder, sessionId: SessionId, stored: VectorStore | undefined): VectorIndex {
  return stored ? new StoredVectors(embedder, sessionId, stored) : new VectorsInMemory(embedder);
}

class StoredVectors implements VectorIndex {
  readonly #embedder: Embedder;
  readonly #sessionId: SessionId;
  readonly #store: VectorStore;

  constructor(embedder: Embedder, sessionId: SessionId, store: VectorStore) {
    this.#embedder = embedder;
    this.#sessionId = sessionId;
    this.#store = store;
  }

  upTo(): Promise<number> {
    return this.#store.last(this.#sessionId, this.#embedder.id);
  }

  async add(texts: readonly IndexedText[], signal: AbortSignal): Promise<void> {
    for await (const vectors of embedded(this.#embedder, texts, signal)) {
      await this.#store.put(this.#sessionId, this.#embedder.id, vectors);
    }
  }

  async nearest(query: string, limit: number, signal: AbortSignal): Promise<{ seq: number; score: number }[]> {
    const vector = await embedOne(this.#embedder, query, signal);
    return vector ? this.#store.nearest(this.#sessionId, this.#embedder.id, vector, limit) : [];
  }
}

class VectorsInMemory implements VectorIndex {
  readonly #embedder: Embedder;
  readonly #vectors: { seq: number; vector: Float32Array }[] = [];

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
  }

  async upTo(): Promise<number> {
    return this.#vectors.at(-1)?.seq ?? 0;
  }

  async add(texts: readonly IndexedText[], signal: AbortSignal): Promise<void> {
    for await (const vectors of embedded(this.#embedder, texts, signal)) {
      for (const { seq, vector } of vectors) this.#vectors.push({ seq, vector: normalised(vector) });
    }
  }

  async nearest(query: string, limit: number, signal: AbortSignal): Promise<{ seq: number; score: number }[]> {
    const vector = await embedOne(this.#embedder, query, signal);
    if (!vector) return [];
    const wanted = normalised(vector);
    return this.#vectors
      .map(({ seq, vector }) => ({ seq, score: dot(wanted, vector) }))
      .sort((a, b) => b.score - a.score || b.seq - a.seq)
      .slice(0, limit);
  }
}

async function* embedded(
  embedder: Embedder,
  texts: readonly IndexedText[],
  signal: AbortSignal,
): AsyncGenerator<{ seq: number; vector: Float32Array }[], void, void> {
  for (let at = 0; at < texts.length; at += BATCH) {
    const batch = texts.slice(at, at + BATCH);
    const vectors = await embedder.embed(
      batch.map(({ content }) => content.slice(0, EMBEDDED)),
      { signal },
    );
    yield batch.flatMap(({ seq }, i) => (vectors[i] ? [{ seq, vector: vectors[i] }] : []));
  }
}

async function embedOne(embedder: Embedder, text: string, signal: AbortSignal): Promise<Float32Array | undefined> {
  const [vector] = await embedder.embed([text.slice(0, EMBEDDED)], { signal });
  return vector;
}

function normalised(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const length = Math.sqrt(sum);
  return length === 0 ? vector : vector.map((value) => value / length);
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
