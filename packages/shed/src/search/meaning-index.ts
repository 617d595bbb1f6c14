import type { WordVectors } from "./word-vectors.js";

const SIGNATURE_WORDS = 4; // of 32 bits each
const UNUSED = SIGNATURE_WORDS * 32 + 1; // farther than any tool

/** Ranks tools by how near the sum of their words' vectors points to that of a query. Keyed by slot. */
export class MeaningIndex {
  readonly #vectors: WordVectors;
  /** One past the highest slot that ever held a tool. */
  #end = 0;
  #used = new Uint8Array(0);
  /** How far each slot is from the last query by its signature. */
  #distances = new Uint8Array(0);
  /** Unit vectors, in steps of 1 / {@link STEPS}. */
  #units: Int8Array;
  /** The signs of the first numbers: near vectors have most of them in common. */
  #signatures: Int32Array;
  readonly #sum: Float32Array;

  constructor(vectors: WordVectors) {
    this.#vectors = vectors;
    this.#units = new Int8Array(0);
    this.#signatures = new Int32Array(0);
    this.#sum = new Float32Array(vectors.dimensions);
  }

  /** Places a tool by its words. */
  set(slot: number, words: Iterable<readonly [stem: string, weight: number]>): void {
    const { dimensions } = this.#vectors;
    if ((slot + 1) * dimensions > this.#units.length) this.#grow(slot + 1);
    const unit = this.#unitOf(words);
    const start = slot * dimensions;
    for (let i = 0; i < dimensions; i++) {
      this.#units[start + i] = Math.max(-127, Math.min(127, Math.round((unit[i] as number) * STEPS)));
    }
    this.#signatures.set(signatureOf(unit), slot * SIGNATURE_WORDS);
    this.#used[slot] = 1;
    this.#end = Math.max(this.#end, slot + 1);
  }

  delete(slot: number): void {
    this.#used[slot] = 0;
  }

  /** The direction of a query, in steps of 1 / {@link FINE_STEPS}; undefined where none of its words is known. */
  directionOf(words: Iterable<readonly [stem: string, weight: number]>): Int32Array | undefined {
    const unit = this.#unitOf(words);
    const direction = new Int32Array(unit.length);
    let some = 0;
    for (let i = 0; i < unit.length; i++) some |= direction[i] = Math.round((unit[i] as number) * FINE_STEPS);
    return some === 0 ? undefined : direction;
  }

  /** The cosine of a tool with a direction. */
  cosine(slot: number, direction: Int32Array): number {
    const units = this.#units;
    const { length } = direction;
    let a = 0; // four sums, so that no addition has to wait for the one before
    let b = 0;
    let c = 0;
    let d = 0;
    for (let i = 0, at = slot * length; i < length; i += 4, at += 4) {
      a = (a + Math.imul(direction[i] as number, units[at] as number)) | 0;
      b = (b + Math.imul(direction[i + 1] as number, units[at + 1] as number)) | 0;
      c = (c + Math.imul(direction[i + 2] as number, units[at + 2] as number)) | 0;
      d = (d + Math.imul(direction[i + 3] as number, units[at + 3] as number)) | 0;
    }
    return (a + b + c + d) / (STEPS * FINE_STEPS);
  }

  /** The `count` slots with the nearest signatures: most of the highest cosines are among them. */
  near(direction: Int32Array, count: number): number[] {
    const [a, b, c, d] = signatureOf(direction) as unknown as [number, number, number, number];
    const all = this.#signatures;
    const distances = this.#distances;
    const counts = new Uint32Array(UNUSED + 1);
    for (let slot = 0, at = 0; slot < this.#end; slot++, at += SIGNATURE_WORDS) {
      const distance = this.#used[slot]
        ? bits(
            a ^ (all[at] as number),
            b ^ (all[at + 1] as number),
            c ^ (all[at + 2] as number),
            d ^ (all[at + 3] as number),
          )
        : UNUSED;
      distances[slot] = distance;
      counts[distance] = (counts[distance] as number) + 1;
    }
    let last = 0; // the distance at which some are taken, and how many are nearer
    let nearer = 0;
    while (last < UNUSED - 1 && nearer + (counts[last] as number) < count) nearer += counts[last++] as number;
    const slots: number[] = [];
    let left = count - nearer;
    for (let slot = 0; slot < this.#end; slot++) {
      const distance = distances[slot] as number;
      if (distance < last || (distance === last && left-- > 0)) slots.push(slot);
    }
    return slots;
  }

  #unitOf(words: Iterable<readonly [stem: string, weight: number]>): Float32Array {
    const sum = this.#sum.fill(0);
    for (const [stem, weight] of words) this.#vectors.add(sum, stem, weight);
    let squares = 0;
    for (let i = 0; i < sum.length; i++) squares += (sum[i] as number) ** 2;
    const length = Math.sqrt(squares);
    if (length > 0) for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) / length;
    return sum;
  }

  #grow(slots: number): void {
    const units = new Int8Array(slots * 2 * this.#vectors.dimensions);
    units.set(this.#units);
    this.#units = units;
    const signatures = new Int32Array(slots * 2 * SIGNATURE_WORDS);
    signatures.set(this.#signatures);
    this.#signatures = signatures;
    this.#distances = new Uint8Array(slots * 2);
    const used = new Uint8Array(slots * 2);
    used.set(this.#used);
    this.#used = used;
  }
}

const STEPS = 400; // the numbers of a unit vector of hundreds are small: few are cut off at 127 / 400
const FINE_STEPS = 10_000; // whole numbers are multiplied faster; those of two unit vectors never leave 32 bits

function signatureOf(unit: Float32Array | Int32Array): Int32Array {
  const signature = new Int32Array(SIGNATURE_WORDS);
  for (let i = 0; i < SIGNATURE_WORDS * 32; i++) {
    if ((unit[i] as number) > 0) signature[i >> 5] = (signature[i >> 5] as number) | (1 << (i & 31));
  }
  return signature;
}

/** How many bits of four words are set. */
function bits(a: number, b: number, c: number, d: number): number {
  const ab = (fourths(a) + fourths(b)) | 0;
  const cd = (fourths(c) + fourths(d)) | 0;
  const eighths = (ab & 0x0f0f0f0f) + ((ab >>> 4) & 0x0f0f0f0f) + (cd & 0x0f0f0f0f) + ((cd >>> 4) & 0x0f0f0f0f);
  return Math.imul(eighths, 0x01010101) >>> 24;
}

/** How many bits are set in each four of a word. */
function fourths(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  return (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
}
