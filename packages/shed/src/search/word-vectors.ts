/** What is known of common words, as it is shipped; see `words/README.md`. */
export interface WordData {
  /** How many numbers a vector has: a multiple of 32. */
  dimensions: number;
  /** Stems, separated by spaces. */
  words: string;
  /** How common each word is in English, a digit of base 36 a word: `0` is rare. */
  commonness: string;
  /** Base64 of the vectors, one after the other, two bits a number, lowest bits first. */
  vectors: string;
}

const LEVELS = [-10, -3, 3, 10]; // what two bits stand for: the best four levels for normally spread numbers, times 6.6

/** Vectors of common English words: words that are used alike have vectors that point alike. */
export class WordVectors {
  readonly dimensions: number;
  readonly #rows = new Map<string, number>();
  readonly #commonness: Uint8Array;
  readonly #packed: Uint8Array;

  constructor(data: WordData) {
    this.dimensions = data.dimensions;
    const words = data.words.split(" ");
    for (const [row, word] of words.entries()) this.#rows.set(word, row);
    this.#commonness = Uint8Array.from(data.commonness, (digit) => Number.parseInt(digit, 36));
    this.#packed = bytesOf(data.vectors);
  }

  /** From 0, rare or unknown, to 1. */
  commonness(stem: string): number {
    const row = this.#rows.get(stem);
    return row === undefined ? 0 : (this.#commonness[row] as number) / 35;
  }

  /** Adds a word's vector to a sum; does nothing for an unknown word. */
  add(sum: Float32Array, stem: string, weight: number): void {
    const row = this.#rows.get(stem);
    if (row === undefined) return;
    const bytes = this.dimensions / 4;
    const scaled = LEVELS.map((level) => level * weight) as [number, number, number, number];
    for (let i = 0, at = row * bytes, to = 0; i < bytes; i++, at++, to += 4) {
      const byte = this.#packed[at] as number;
      sum[to] = (sum[to] as number) + (scaled[byte & 3] as number);
      sum[to + 1] = (sum[to + 1] as number) + (scaled[(byte >> 2) & 3] as number);
      sum[to + 2] = (sum[to + 2] as number) + (scaled[(byte >> 4) & 3] as number);
      sum[to + 3] = (sum[to + 3] as number) + (scaled[byte >> 6] as number);
    }
  }
}

let loading: Promise<WordVectors> | undefined;

/** Reads the shipped vectors when they are first needed. */
export function loadWordVectors(): Promise<WordVectors> {
  loading ??= import("#word-data").then(({ WORD_DATA }) => new WordVectors(WORD_DATA));
  return loading;
}

function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
