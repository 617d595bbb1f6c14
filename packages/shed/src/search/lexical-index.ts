import { best } from "./best.js";
import type { ToolFields } from "./fields.js";
import { type Term, Vocabulary } from "./vocabulary.js";
import { stem, wordsOf } from "./words.js";

/** A word of a query. */
export interface QueryTerm {
  stem: string;
  /** How much it says of what is wanted, from 0 to 1. */
  weight: number;
}

/** A tool that shares words with a query. */
export interface Match {
  slot: number;
  score: number;
}

interface Entry {
  name: string;
  slot: number;
  terms: readonly Term[];
  /** Of the terms, in their order. */
  weights: Float32Array;
  /** The terms of the name, each once. */
  nameTerms: readonly Term[];
  length: number;
}

const FIELD_WEIGHTS: { readonly [F in keyof ToolFields]: number } = {
  name: 3,
  category: 1,
  description: 1,
  argumentNames: 0.8,
  argumentTexts: 0.25,
};
const K1 = 1.2; // how soon more of the same word counts no more
const B = 0.4; // how much a long text counts less
const SIMILAR_WEIGHT = 1; // of a word that is only written alike, beside its likeness
const NAME_WEIGHT = 0.4; // of a name that the query covers, where the best match of words counts 1

/**
 * Ranks tools by the words of a query: BM25 over weighted fields, where words that are only written alike count less,
 * and by how much of a tool's name the query says. Adding or removing a tool touches its own words alone.
 */
export class LexicalIndex {
  readonly #entries = new Map<string, Entry>();
  readonly #slots: (Entry | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #vocabulary = new Vocabulary();
  #totalLength = 0;
  #query = 0; // how many there were
  #slotsTouched = new Int32Array(64); // those whose scores are not 0, in the first places
  #touched = 0;
  #lengths = new Float64Array(64); // by slot
  #scores = new Float64Array(64); // by slot; all 0 between searches

  get size(): number {
    return this.#entries.size;
  }

  add(fields: ToolFields): void {
    this.remove(fields.name);
    const weights = new Map<string, number>();
    const ofName = new Set<string>();
    let length = 0;
    for (const [field, text] of Object.entries(fields) as [keyof ToolFields, string][]) {
      const weight = FIELD_WEIGHTS[field];
      for (const word of wordsOf(text)) {
        const key = stem(word);
        if (field === "name") ofName.add(key);
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
    const nameTerms = terms.filter(({ text }) => ofName.has(text));
    const entry: Entry = {
      name: fields.name,
      slot,
      terms,
      weights: Float32Array.from(weights.values()),
      nameTerms,
      length,
    };
    this.#slots[slot] = entry;
    this.#entries.set(fields.name, entry);
    this.#totalLength += length;
    if (this.#scores.length < this.#slots.length) this.#grow();
    this.#lengths[slot] = length;
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

  /** The `count` tools that share most with a query, in no order. The best scores 1, more with a name that fits. */
  search(query: readonly QueryTerm[], count: number): Match[] {
    this.#touched = 0;
    this.#query++;
    const mean = this.#totalLength / Math.max(1, this.#entries.size);
    for (const { stem: text, weight } of query) {
      const exact = this.#vocabulary.get(text);
      const rarity = exact ? this.#rarity(exact) : Number.POSITIVE_INFINITY;
      if (exact) {
        exact.saidIn = this.#query;
        this.#count(exact, weight * rarity, mean);
      }
      for (const { term, likeness } of this.#vocabulary.similar(text)) {
        // A rare word must not count more than the common one that was meant.
        const worth = Math.min(rarity, this.#rarity(term));
        this.#count(term, weight * SIMILAR_WEIGHT * likeness * likeness * worth, mean);
      }
    }
    const scores = this.#scores;
    const touched = this.#slotsTouched.subarray(0, this.#touched);
    let top = 0;
    for (let i = 0; i < touched.length; i++) top = Math.max(top, scores[touched[i] as number] as number);
    const found = best(touched, count, scores, top).map((slot): Match => {
      const { nameTerms } = this.#slots[slot] as Entry;
      return { slot, score: (scores[slot] as number) / top + NAME_WEIGHT * this.#covered(nameTerms) };
    });
    for (let i = 0; i < touched.length; i++) scores[touched[i] as number] = 0;
    return found;
  }

  /** The slots of all tools. */
  *slots(): Iterable<number> {
    for (const { slot } of this.#entries.values()) yield slot;
  }

  slotOf(name: string): number | undefined {
    return this.#entries.get(name)?.slot;
  }

  nameAt(slot: number): string {
    return (this.#slots[slot] as Entry).name;
  }

  /** The stems of a tool, each with how often it stands there (weighted by field) and how rare it is among the tools. */
  *termsAt(slot: number): Iterable<{ stem: string; weight: number; rarity: number }> {
    const { terms, weights } = this.#slots[slot] as Entry;
    for (const [i, term] of terms.entries()) {
      yield { stem: term.text, weight: weights[i] as number, rarity: this.#rarity(term) };
    }
  }

  /** How rare a stem is among the tools; undefined where no tool has it. */
  rarityOf(text: string): number | undefined {
    const term = this.#vocabulary.get(text);
    return term && this.#rarity(term);
  }

  /** Adds what a term is worth to the scores of the tools that have it. */
  #count({ slots, weights }: Term, worth: number, mean: number): void {
    const touched = this.#slotsTouched;
    const scores = this.#scores;
    const lengths = this.#lengths;
    const perLength = (K1 * B) / mean;
    const count = slots.length;
    let next = this.#touched;
    for (let i = 0; i < count; i++) {
      const slot = slots[i] as number;
      const weight = weights[i] as number;
      const score = scores[slot] as number;
      if (score === 0) touched[next++] = slot;
      const saturated = weight / (weight + K1 * (1 - B) + perLength * (lengths[slot] as number));
      scores[slot] = score + worth * saturated;
    }
    this.#touched = next;
  }

  /** The share of a name that a query says, by the rarity of its words. */
  #covered(nameTerms: readonly Term[]): number {
    if (!nameTerms.some(({ saidIn }) => saidIn === this.#query)) return 0;
    let all = 0;
    let covered = 0;
    for (const term of nameTerms) {
      const rarity = this.#rarity(term);
      all += rarity;
      if (term.saidIn === this.#query) covered += rarity;
    }
    return covered / all;
  }

  #rarity({ slots }: Term): number {
    return Math.log(1 + (this.#entries.size - slots.length + 0.5) / (slots.length + 0.5));
  }

  #grow(): void {
    const lengths = new Float64Array(this.#slots.length * 2);
    lengths.set(this.#lengths);
    this.#lengths = lengths;
    this.#scores = new Float64Array(lengths.length);
    this.#slotsTouched = new Int32Array(lengths.length);
  }
}
