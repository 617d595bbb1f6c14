import type { Embedder, Tool } from "@shedkit/types";
import { toolName } from "@shedkit/types";
import { fieldsOf, type ToolFields } from "./fields.js";
import { stemsOf } from "./query.js";
import { type Scored, ToolIndex } from "./tool-index.js";
import { loadWordVectors, type WordVectors } from "./word-vectors.js";

const FUSION_DEPTH = 50; // ranks of each list that count
const FUSION_OFFSET = 10; // of reciprocal rank fusion: how soon lower ranks stop counting
const BATCH = 128; // texts an embedder gets at once

/**
 * Finds tools by what is wanted: by words, and by meaning where there is an embedder. A tool can be found as soon as
 * it was added.
 */
export class ToolDiscovery {
  /** Made, with the vectors of words, at the first search. */
  #index: ToolIndex | undefined;
  readonly #fields = new Map<string, ToolFields>();
  readonly #vectors = new Map<string, Float32Array>();
  #embedder: Embedder | undefined;

  get size(): number {
    return this.#fields.size;
  }

  /** Adds a tool, in place of one of the same name. */
  add(tool: Tool): void {
    const name = toolName(tool);
    const fields = fieldsOf(tool);
    this.#fields.set(name, fields);
    this.#vectors.delete(name);
    this.#index?.add(fields);
  }

  /** False where there is no such tool. */
  remove(name: string): boolean {
    this.#index?.remove(name);
    this.#vectors.delete(name);
    return this.#fields.delete(name);
  }

  /** Searches by meaning too, from now on; embeds the tools that are there. */
  async useEmbedder(embedder: Embedder, signal?: AbortSignal): Promise<void> {
    this.#vectors.clear();
    this.#embedder = embedder;
    await this.#embedMissing(signal);
  }

  /** Best first; the tool whose name is the query comes before all others. Rejects where the embedder does. */
  async search(query: string, limit: number, signal?: AbortSignal): Promise<Scored[]> {
    const wanted = query.trim();
    if (wanted === "" || limit <= 0) return [];
    const index = await this.#ready();
    const byWords = index.search(stemsOf(wanted), this.#embedder ? FUSION_DEPTH : limit + 1);
    const ranked = this.#embedder ? fuse(byWords, await this.#byMeaning(this.#embedder, wanted, signal)) : byWords;
    return exactFirst(ranked, this.#exactName(wanted)).slice(0, limit);
  }

  async #ready(): Promise<ToolIndex> {
    if (this.#index === undefined) {
      const vectors = await loadWordVectors();
      this.#index ??= this.#indexed(vectors); // another search may have been faster
    }
    return this.#index;
  }

  #indexed(vectors: WordVectors): ToolIndex {
    const index = new ToolIndex(vectors);
    for (const fields of this.#fields.values()) index.add(fields);
    return index;
  }

  #exactName(query: string): string | undefined {
    if (this.#fields.has(query)) return query;
    const lower = query.toLowerCase();
    return this.#fields.has(lower) ? lower : undefined;
  }

  async #byMeaning(embedder: Embedder, query: string, signal?: AbortSignal): Promise<Scored[]> {
    await this.#embedMissing(signal);
    const [vector] = await embedder.embed([query], { signal });
    if (vector === undefined) return [];
    const scored = Array.from(this.#vectors, ([name, other]) => ({ name, score: cosine(vector, other) }));
    return scored.sort((a, b) => b.score - a.score).slice(0, FUSION_DEPTH);
  }

  async #embedMissing(signal?: AbortSignal): Promise<void> {
    const missing = Array.from(this.#fields.values()).filter(({ name }) => !this.#vectors.has(name));
    for (let start = 0; start < missing.length; start += BATCH) {
      const batch = missing.slice(start, start + BATCH);
      const vectors = await (this.#embedder as Embedder).embed(batch.map(textToEmbed), { signal });
      for (const [i, fields] of batch.entries()) {
        const vector = vectors[i];
        // The tool may have been removed or replaced while its text was embedded.
        if (vector !== undefined && this.#fields.get(fields.name) === fields) this.#vectors.set(fields.name, vector);
      }
    }
  }
}

function textToEmbed(fields: ToolFields): string {
  return `${fields.name}: ${fields.description} (${fields.argumentNames})`;
}

function fuse(...lists: readonly Scored[][]): Scored[] {
  const scores = new Map<string, number>();
  for (const list of lists) {
    for (const [rank, { name }] of list.entries()) {
      scores.set(name, (scores.get(name) ?? 0) + 1 / (FUSION_OFFSET + rank));
    }
  }
  return Array.from(scores, ([name, score]) => ({ name, score })).sort((a, b) => b.score - a.score);
}

function exactFirst(ranked: readonly Scored[], exact: string | undefined): Scored[] {
  if (exact === undefined) return [...ranked];
  const best = ranked[0]?.score ?? 1;
  return [{ name: exact, score: best + 1 }, ...ranked.filter(({ name }) => name !== exact)];
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
  return normA === 0 || normB === 0 ? 0 : dot / Math.sqrt(normA * normB);
}
