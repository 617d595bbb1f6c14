import type { Embedder, Tool } from "@shedkit/types";
import { toolName } from "@shedkit/types";
import { Embeddings } from "./embeddings.js";
import { fieldsOf, type ToolFields } from "./fields.js";
import { stemsOf } from "./query.js";
import { type Scored, ToolIndex } from "./tool-index.js";
import { loadWordVectors, type WordVectors } from "./word-vectors.js";

const FUSION_DEPTH = 50; // ranks of each list that count
const FUSION_OFFSET = 10; // of reciprocal rank fusion: how soon lower ranks stop counting
const EMBEDDER_WEIGHT = 0.7; // of the list by an embedder, where the one by words counts 1; chosen like those of ToolIndex

/**
 * Finds tools by what is wanted: by words, and by meaning where there is an embedder. A tool can be found as soon as
 * it was added.
 */
export class ToolDiscovery {
  /** Made, with the vectors of words, at the first search. */
  #index: ToolIndex | undefined;
  readonly #fields = new Map<string, ToolFields>();
  #embeddings: Embeddings | undefined;
  #embedderFault: string | undefined;

  get size(): number {
    return this.#fields.size;
  }

  /** Why the embedder gave nothing when it was last asked; searches go by words alone then. */
  get embedderFault(): string | undefined {
    return this.#embedderFault;
  }

  /** Adds a tool, in place of one of the same name. */
  add(tool: Tool): void {
    const name = toolName(tool);
    const fields = fieldsOf(tool);
    this.remove(name);
    this.#fields.set(name, fields);
    this.#index?.add(fields);
  }

  /** False where there is no such tool. */
  remove(name: string): boolean {
    const fields = this.#fields.get(name);
    if (fields === undefined) return false;
    this.#index?.remove(name);
    this.#embeddings?.delete(fields);
    return this.#fields.delete(name);
  }

  /**
   * Searches by meaning too, from now on; embeds the tools that are there. Where the embedder fails it is asked again
   * at the next search. Rejects only where `signal` aborts.
   */
  async useEmbedder(embedder: Embedder, signal?: AbortSignal): Promise<void> {
    const embeddings = new Embeddings(embedder);
    this.#embeddings = embeddings;
    await this.#ask(() => this.#embedMissing(embeddings, signal), signal);
  }

  /**
   * Best first; the tool whose name is the query comes before all others. None where no word of the query fits, and no
   * tool is near to what it means. Rejects only where `signal` aborts.
   */
  async search(query: string, limit: number, signal?: AbortSignal): Promise<Scored[]> {
    const wanted = query.trim();
    if (wanted === "" || limit <= 0) return [];
    const index = await this.#ready();
    const embeddings = this.#embeddings;
    const depth = embeddings ? Math.max(FUSION_DEPTH, limit + 1) : limit + 1;
    const byWords = index.search(stemsOf(wanted), depth);
    const byMeaning =
      embeddings &&
      (await this.#ask(async () => {
        await this.#embedMissing(embeddings, signal);
        return embeddings.nearest(wanted, depth, signal);
      }, signal));
    const ranked = byMeaning?.fits ? fuse(byWords, byMeaning.hits) : byWords;
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

  /** Undefined where the embedder fails. */
  async #ask<T>(embed: () => Promise<T>, signal: AbortSignal | undefined): Promise<T | undefined> {
    try {
      const answer = await embed();
      this.#embedderFault = undefined;
      return answer;
    } catch (fault) {
      if (signal?.aborted) throw fault;
      this.#embedderFault = fault instanceof Error ? fault.message : String(fault);
      return undefined;
    }
  }

  #embedMissing(embeddings: Embeddings, signal: AbortSignal | undefined): Promise<void> {
    return embeddings.add(this.#fields.values(), (fields) => this.#fields.get(fields.name) === fields, signal);
  }
}

function fuse(byWords: readonly Scored[], byMeaning: readonly Scored[]): Scored[] {
  const scores = new Map<string, number>();
  for (const [list, weight] of [
    [byWords, 1],
    [byMeaning, EMBEDDER_WEIGHT],
  ] as const) {
    for (const [rank, { name }] of list.entries()) {
      scores.set(name, (scores.get(name) ?? 0) + weight / (FUSION_OFFSET + rank));
    }
  }
  return Array.from(scores, ([name, score]) => ({ name, score })).sort((a, b) => b.score - a.score);
}

function exactFirst(ranked: readonly Scored[], exact: string | undefined): Scored[] {
  if (exact === undefined) return [...ranked];
  const best = ranked[0]?.score ?? 1;
  return [{ name: exact, score: best + 1 }, ...ranked.filter(({ name }) => name !== exact)];
}
