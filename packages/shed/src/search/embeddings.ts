import type { Embedder } from "@shedkit/types";
import type { ToolFields } from "./fields.js";
import type { Scored } from "./tool-index.js";

const BATCH = 128; // texts an embedder gets at once

/**
 * What no tool is for. How near an embedder puts such texts to a tool tells how near is too far: models differ widely
 * in that.
 */
const UNRELATED: readonly string[] = [
  "The old king was buried beside his queen.",
  "Moss grows on the north side of the trees.",
  "She had never liked the taste of liquorice.",
  "The treaty ended a war of thirty years.",
  "A minor chord sounds sad to most people.",
  "Penguins huddle together against the wind.",
  "His grandfather wore a grey hat in summer.",
  "The glacier is older than the valley below it.",
];
const DEVIATIONS = 3; // a tool that is nearer than the unrelated by so many of their deviations has to do with a query

/** The tools nearest to a query. */
export interface Nearest {
  /** Best first. */
  hits: Scored[];
  /** Whether any of all has to do with the query. */
  fits: boolean;
}

/** The meaning of tools as an embedder tells it. Rejects where the embedder does; the next try embeds what is missing. */
export class Embeddings {
  readonly #embedder: Embedder;
  readonly #vectors = new Map<ToolFields, Float32Array>();
  readonly #floors = new Map<ToolFields, number>();
  #unrelated: readonly Float32Array[] | undefined;

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
  }

  delete(fields: ToolFields): void {
    this.#vectors.delete(fields);
    this.#floors.delete(fields);
  }

  /** Embeds those that are new. `isThere` tells whether one was removed while its text was embedded. */
  async add(
    all: Iterable<ToolFields>,
    isThere: (fields: ToolFields) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const missing = Array.from(all).filter((fields) => !this.#vectors.has(fields));
    for (let start = 0; start < missing.length; start += BATCH) {
      const batch = missing.slice(start, start + BATCH);
      const vectors = await this.#embed(batch.map(textToEmbed), signal);
      for (const [i, fields] of batch.entries()) {
        if (isThere(fields)) this.#vectors.set(fields, vectors[i] as Float32Array);
      }
    }
  }

  async nearest(query: string, count: number, signal: AbortSignal | undefined): Promise<Nearest> {
    this.#unrelated ??= await this.#embed(UNRELATED, signal);
    const [asked] = (await this.#embed([query], signal)) as [Float32Array];
    let fits = false;
    const hits = Array.from(this.#vectors, ([fields, vector]) => {
      const score = cosine(asked, vector);
      fits ||= score > this.#floor(fields, vector);
      return { name: fields.name, score };
    });
    return { hits: hits.sort((a, b) => b.score - a.score).slice(0, count), fits };
  }

  #floor(fields: ToolFields, vector: Float32Array): number {
    const known = this.#floors.get(fields);
    if (known !== undefined) return known;
    const far = (this.#unrelated ?? []).map((other) => cosine(other, vector));
    const mean = far.reduce((sum, each) => sum + each, 0) / far.length;
    const variance = far.reduce((sum, each) => sum + (each - mean) ** 2, 0) / far.length;
    const floor = mean + DEVIATIONS * Math.sqrt(variance);
    this.#floors.set(fields, floor);
    return floor;
  }

  async #embed(texts: readonly string[], signal: AbortSignal | undefined): Promise<readonly Float32Array[]> {
    const vectors = await this.#embedder.embed(texts, { signal });
    if (vectors.length === texts.length) return vectors;
    throw new Error(`The embedder ${this.#embedder.id} gave ${vectors.length} vectors for ${texts.length} texts.`);
  }
}

function textToEmbed(fields: ToolFields): string {
  return `${fields.name}: ${fields.description} (${fields.argumentNames})`;
}

function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let normA = 0;
  let normB = 0;
  for (let i = 0; i < a.length; i++) {
    const x = a[i] as number;
    const y = b[i] ?? 0;
    dot += x * y;
    normA += x * x;
    normB += y * y;
  }
  return dot === 0 ? 0 : dot / Math.sqrt(normA * normB) || 0; // a vector that holds NaN is near to nothing
}
