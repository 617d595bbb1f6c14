import type { ToolFields } from "./fields.js";
import { LexicalIndex, type Match, type QueryTerm } from "./lexical-index.js";
import { MeaningIndex } from "./meaning-index.js";
import type { WordVectors } from "./word-vectors.js";

/** A tool that a search found. */
export interface Scored {
  name: string;
  score: number;
}

// The weights were chosen, together, on the even lines of the queries that `bench/` measures with; its README.md has the
// figures of the odd lines beside them.
const MEANING_WEIGHT = 1.8; // of the best match by meaning, where the best match of words counts 1
const DEPTH = 64; // so many by words, and as many by meaning, are looked at more closely
const MIN_COSINE = 0.18; // of a tool that shares no word with the query
const COMMON_IN_WORDS = 0.5; // how much less the most common word counts: where words are matched,
const COMMON_IN_QUERY = 1; // where a query is placed by its meaning,
const COMMON_IN_TOOL = 0.5; // and where a tool is
const REPEATED = 0.6; // the power of how often a word stands in a tool (weighted by field) that counts where it is placed

/**
 * Ranks tools by words and by what words have to do with each other. Adding or removing a tool touches that tool alone;
 * its place by meaning depends a little on how rare its words were among the tools at that time.
 */
export class ToolIndex {
  readonly #lexical = new LexicalIndex();
  readonly #vectors: WordVectors;
  readonly #meaning: MeaningIndex;
  /** How many tools there were when all were last placed. */
  #placed = 0;
  readonly #unplaced = new Set<number>();

  constructor(vectors: WordVectors) {
    this.#vectors = vectors;
    this.#meaning = new MeaningIndex(vectors);
  }

  add(fields: ToolFields): void {
    this.remove(fields.name);
    this.#lexical.add(fields);
    this.#unplaced.add(this.#lexical.slotOf(fields.name) as number);
  }

  remove(name: string): void {
    const slot = this.#lexical.slotOf(name);
    if (slot === undefined) return;
    this.#lexical.remove(name);
    this.#meaning.delete(slot);
    this.#unplaced.delete(slot);
  }

  /** Best first. Equal scores stand in the order of the names. */
  search(stems: ReadonlySet<string>, limit: number): Scored[] {
    this.#place();
    const terms = Array.from(stems, (stem) => ({ stem, weight: this.#weight(stem, COMMON_IN_WORDS) }));
    const depth = Math.max(DEPTH, limit);
    const matches = this.#lexical.search(terms, depth);
    const direction = this.#meaning.directionOf(this.#queryWords(terms));
    const found = direction === undefined ? matches : this.#withMeaning(direction, matches, depth);
    const scores = Float64Array.from(found, ({ score }) => score).sort();
    const lowest = scores[scores.length - limit] ?? 0; // most are not among the best, and need no name
    return found
      .filter(({ score }) => score >= lowest)
      .map(({ slot, score }): Scored => ({ name: this.#lexical.nameAt(slot), score }))
      .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
      .slice(0, limit);
  }

  /** Matches by words, scored by meaning too, and those by meaning alone. */
  #withMeaning(direction: Int32Array, matches: readonly Match[], depth: number): Match[] {
    const matched = new Set(matches.map(({ slot }) => slot));
    const near = this.#meaning.near(direction, depth).filter((slot) => !matched.has(slot));
    const all = [...matches, ...near.map((slot): Match => ({ slot, score: 0 }))];
    const cosines = all.map(({ slot }) => this.#meaning.cosine(slot, direction));
    const top = cosines.reduce((highest, cosine) => Math.max(highest, cosine), 0);
    const found: Match[] = [];
    for (const [i, { slot, score }] of all.entries()) {
      const cosine = cosines[i] as number;
      if (score === 0 && cosine < MIN_COSINE) continue;
      found.push(cosine > 0 ? { slot, score: score + (MEANING_WEIGHT * cosine) / top } : { slot, score });
    }
    return found;
  }

  /** Places the tools that are new; all again once there are twice as many, since rarity has changed by then. */
  #place(): void {
    const all = this.#lexical.size >= 2 * this.#placed;
    for (const slot of all ? this.#lexical.slots() : this.#unplaced) this.#meaning.set(slot, this.#toolWords(slot));
    this.#unplaced.clear();
    if (all) this.#placed = this.#lexical.size;
  }

  *#toolWords(slot: number): Iterable<readonly [string, number]> {
    for (const { stem, weight, rarity } of this.#lexical.termsAt(slot)) {
      yield [stem, weight ** REPEATED * rarity * this.#weight(stem, COMMON_IN_TOOL)];
    }
  }

  *#queryWords(terms: readonly QueryTerm[]): Iterable<readonly [string, number]> {
    const unknown = 0.7 * Math.log(2 * this.#lexical.size + 2); // of a word that no tool has
    for (const { stem } of terms) {
      yield [stem, (this.#lexical.rarityOf(stem) ?? unknown) * this.#weight(stem, COMMON_IN_QUERY)];
    }
  }

  #weight(stem: string, share: number): number {
    return 1 - share * this.#vectors.commonness(stem);
  }
}
