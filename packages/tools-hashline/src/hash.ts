const LETTERS = "abcdefghijklmnopqrstuvwxyz234567"; // five bits each

const START = 0x811c9dc5 | 0;

/** How many letters a hash has at most. */
export const MAX_LETTERS = 8;
/** How many letters a hash has at least: with one, a changed line in 32 would pass for the old one. */
export const MIN_LETTERS = 2;

/**
 * The hashes of lines, in up to {@link MAX_LETTERS} letters. A hash is of what a line says, and of how many lines before it
 * say the same: so equal lines are told apart, and a line that only moved keeps its hash. Not cryptographic.
 */
export class LineHashes {
  readonly length: number;
  // Two times 32 bits a line, and letters only where they are asked for: files may have millions of lines.
  readonly #a: Uint32Array;
  readonly #b: Uint32Array;

  /** A carriage return at the end of a line does not count: it is part of a line end, or of none. */
  constructor(lines: readonly string[]) {
    this.length = lines.length;
    // One text is gone through far more quickly than parts of one.
    const { a, b } = hashesIn(lines.map(withoutReturn).join("\n"), this.length);
    this.#a = a;
    this.#b = b;
  }

  /** The first letters of the hash of a line. */
  of(index: number, letters: number): string {
    let text = "";
    for (let i = 0; i < letters; i++) text += LETTERS[this.#bits(index, i)];
    return text;
  }

  /** Whether a line has a hash that begins so; false where there is no such line. */
  is(index: number, hash: string): boolean {
    if (index < 0 || index >= this.length) return false;
    for (let i = 0; i < hash.length; i++) if (LETTERS[this.#bits(index, i)] !== hash[i]) return false;
    return true;
  }

  #bits(index: number, letter: number): number {
    const half = MAX_LETTERS / 2;
    const [bits, at] = letter < half ? [this.#a[index], letter] : [this.#b[index], letter - half];
    return ((bits ?? 0) >>> (5 * at)) & 31;
  }
}

/** Counts pairs of numbers, up to so many of them. */
class Counts {
  readonly #a: Uint32Array;
  readonly #b: Uint32Array;
  readonly #counts: Uint32Array;
  readonly #mask: number;

  constructor(most: number) {
    const size = 2 ** Math.ceil(Math.log2(2 * most + 2)); // half of it stays empty
    this.#a = new Uint32Array(size);
    this.#b = new Uint32Array(size);
    this.#counts = new Uint32Array(size);
    this.#mask = size - 1;
  }

  /** How often the pair was added before. */
  add(a: number, b: number): number {
    let slot = spread(a ^ b) & this.#mask;
    while (this.#counts[slot] !== 0 && !(this.#a[slot] === a && this.#b[slot] === b)) slot = (slot + 1) & this.#mask;
    this.#a[slot] = a;
    this.#b[slot] = b;
    const before = this.#counts[slot] ?? 0;
    this.#counts[slot] = before + 1;
    return before;
  }
}

function hashesIn(text: string, lines: number): { a: Uint32Array; b: Uint32Array } {
  const hashes = { a: new Uint32Array(lines), b: new Uint32Array(lines) };
  const equal = new Counts(lines);
  let at = 0;
  for (let line = 0; line < lines; line++) {
    const feed = text.indexOf("\n", at);
    const end = feed < 0 ? text.length : feed;
    let a = START;
    let b = 0;
    for (; at < end; at++) {
      const unit = text.charCodeAt(at);
      a = Math.imul(a ^ unit, 0x01000193);
      b = Math.imul((b + unit) | 0, 0x5bd1e995) ^ (b >>> 15);
    }
    at = end + 1;
    const before = equal.add(a >>> 0, b >>> 0);
    hashes.a[line] = spread(a ^ Math.imul(before, 0x9e3779b1));
    hashes.b[line] = spread((b + before) | 0);
  }
  return hashes;
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

/** Lets every bit count for every other. */
function spread(bits: number): number {
  let x = bits;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}
