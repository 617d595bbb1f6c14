import type { ToolFields } from "./fields.js";
import { STOP_WORDS } from "./stop-words.js";
import { type Term, Vocabulary } from "./vocabulary.js";
import { stem, wordsOf } from "./words.js";

/** A tool that a search found. */
export interface Scored {
  name: string;
  score: number;
}

interface Entry {
  name: string;
  slot: number;
  terms: readonly Term[];
  length: number;
}

const FIELD_WEIGHTS: { readonly [F in keyof ToolFields]: number } = {
  name: 2.5,
  category: 1,
  description: 1,
  argumentNames: 0.6,
  argumentTexts: 0.3,
};
const K1 = 1.2;
const B = 0.5;
const SIMILAR_WEIGHT = 0.5;

/**
 * Ranks tools by the words of a query (BM25 over weighted fields), and by words that are written alike. Adding or
 * removing a tool touches its own words alone.
 */
export class LexicalIndex {
  readonly #entries = new Map<string, Entry>();
  readonly #slots: (Entry | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #vocabulary = new Vocabulary();
  #totalLength = 0;
  #scores = new Float64Array(64);

  get size(): number {
    return this.#entries.size;
  }

  add(fields: ToolFields): void {
    this.remove(fields.name);
    const weights = new Map<string, number>();
    let length = 0;
    for (const [field, text] of Object.entries(fields) as [keyof ToolFields, string][]) {
      const weight = FIELD_WEIGHTS[field];
      for (const word of wordsOf(text)) {
        const key = stem(word);
        weights.set(key, (weights.get(key) ?? 0) + weight);
        length += weight;
      }
    }
    const slot = this.#free.pop() ?? this.#slots.length;
    const terms: Term[] = [];
    for (const [text, weight] of weights) {
      const term = this.#vocabulary.getOrAdd(text);
      term.slots.push(slot);
      term.weights.push(weight);
      terms.push(term);
    }
    const entry: Entry = { name: fields.name, slot, terms, length };
    this.#slots[slot] = entry;
    this.#entries.set(fields.name, entry);
    this.#totalLength += length;
    if (this.#scores.length < this.#slots.length) this.#scores = new Float64Array(this.#slots.length * 2);
  }

  /** False where there is no such tool. */
  remove(name: string): boolean {
    const entry = this.#entries.get(name);
    if (entry === undefined) return false;
    for (const term of entry.terms) {
      const at = term.slots.indexOf(entry.slot);
      const lastSlot = term.slots.pop();
      const lastWeight = term.weights.pop();
      if (lastSlot !== undefined && lastWeight !== undefined && at < term.slots.length) {
        term.slots[at] = lastSlot;
        term.weights[at] = lastWeight;
      }
      if (term.slots.length === 0) this.#vocabulary.delete(term);
    }
    this.#slots[entry.slot] = undefined;
    this.#free.push(entry.slot);
    this.#totalLength -= entry.length;
    return this.#entries.delete(name);
  }

  /** Best first, those alone that share a word with the query. Equal scores stand in the order of the names. */
  search(query: string, limit: number): Scored[] {
    const scores = this.#scores;
    const touched: number[] = [];
    const mean = this.#totalLength / Math.max(1, this.#entries.size);
    for (const text of queryTerms(query)) {
      const exact = this.#vocabulary.get(text);
      if (exact) this.#addScores(exact, 1, mean, touched);
      for (const { term, likeness } of this.#vocabulary.similar(text)) {
        this.#addScores(term, (exact ? SIMILAR_WEIGHT : 1) * SIMILAR_WEIGHT * likeness * likeness, mean, touched);
      }
    }
    const found: Scored[] = [];
    for (const slot of touched) {
      found.push({ name: (this.#slots[slot] as Entry).name, score: scores[slot] as number });
      scores[slot] = 0;
    }
    found.sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
    return found.slice(0, limit);
  }

  #addScores(term: Term, factor: number, mean: number, touched: number[]): void {
    const scores = this.#scores;
    const count = term.slots.length;
    const rarity = factor * Math.log(1 + (this.#entries.size - count + 0.5) / (count + 0.5));
    for (let i = 0; i < count; i++) {
      const slot = term.slots[i] as number;
      const weight = term.weights[i] as number;
      const { length } = this.#slots[slot] as Entry;
      if (scores[slot] === 0) touched.push(slot);
      scores[slot] =
        (scores[slot] as number) + (rarity * weight * (K1 + 1)) / (weight + K1 * (1 - B + (B * length) / mean));
    }
  }
}

/** The stems of a query's words. Words that only join others are left out, unless there are no others. */
function queryTerms(query: string): Set<string> {
  const words = wordsOf(query);
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return new Set((telling.length > 0 ? telling : words).map(stem));
}
