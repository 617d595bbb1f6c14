/** A term of the index: the tools that have it, each with the weight it has there. */
export interface Term {
  readonly text: string;
  /** Slots of the tools, and in the same places the weights. */
  readonly slots: number[];
  readonly weights: number[];
  readonly grams: number;
  /** The number of the last query that said this term. */
  saidIn: number;
}

/** A term that is written like another text. */
export interface Similar {
  term: Term;
  likeness: number;
}

const MAX_KNOWN = 4000;
const GRAM = 3;
const MIN_SIMILARITY = 0.5;
const MAX_SIMILAR = 8;

/**
 * The terms of all tools, found exactly or by likeness: `forecast` finds `forcast`, `calculator` and the
 * `weatherforecast` of a name written in one word. Likeness is measured on pieces of three characters.
 */
export class Vocabulary {
  readonly #terms = new Map<string, Term>();
  readonly #byGram = new Map<string, Set<Term>>();
  /** Answers of {@link Vocabulary.similar} for the terms there are now. */
  readonly #known = new Map<string, readonly Similar[]>();

  get(text: string): Term | undefined {
    return this.#terms.get(text);
  }

  getOrAdd(text: string): Term {
    let term = this.#terms.get(text);
    if (term === undefined) {
      const grams = gramsOf(text);
      term = { text, slots: [], weights: [], grams: grams.size, saidIn: 0 };
      this.#terms.set(text, term);
      this.#known.clear();
      for (const gram of grams) {
        const terms = this.#byGram.get(gram);
        if (terms) terms.add(term);
        else this.#byGram.set(gram, new Set([term]));
      }
    }
    return term;
  }

  delete(term: Term): void {
    this.#terms.delete(term.text);
    this.#known.clear();
    for (const gram of gramsOf(term.text)) {
      const terms = this.#byGram.get(gram);
      terms?.delete(term);
      if (terms?.size === 0) this.#byGram.delete(gram);
    }
  }

  /** Other terms like this text, most alike first; likeness is above 0 and below 1. */
  similar(text: string): readonly Similar[] {
    let found = this.#known.get(text);
    if (found === undefined) {
      if (this.#known.size >= MAX_KNOWN) this.#known.clear();
      found = this.#similar(text);
      this.#known.set(text, found);
    }
    return found;
  }

  #similar(text: string): Similar[] {
    const grams = gramsOf(text);
    const shared = new Map<Term, number>();
    for (const gram of grams) {
      for (const term of this.#byGram.get(gram) ?? []) shared.set(term, (shared.get(term) ?? 0) + 1);
    }
    const found: Similar[] = [];
    for (const [term, count] of shared) {
      if (term.text === text) continue;
      const likeness = likenessOf(count, grams.size, term.grams);
      if (likeness >= MIN_SIMILARITY) found.push({ term, likeness });
    }
    return found.sort((a, b) => b.likeness - a.likeness).slice(0, MAX_SIMILAR);
  }
}

/** Between the share of common pieces and, for a word inside another, the share of the shorter one. */
function likenessOf(shared: number, a: number, b: number): number {
  const dice = (2 * shared) / (a + b);
  const shorter = Math.min(a, b);
  const contained = shorter >= 5 && shared >= shorter - 1 ? 0.8 * (shared / shorter) : 0;
  return Math.min(0.95, Math.max(dice, contained));
}

function gramsOf(text: string): Set<string> {
  const padded = `^${text}$`;
  const grams = new Set<string>();
  for (let i = 0; i + GRAM <= padded.length; i++) grams.add(padded.slice(i, i + GRAM));
  return grams;
}
