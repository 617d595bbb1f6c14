const LETTERS = "abcdefghijklmnopqrstuvwxyz234567"; // five bits each

/** How many letters a hash has at most. */
export const MAX_LETTERS = 8;
/** How many letters a hash has at least: with one, a changed line in 32 would pass for the old one. */
export const MIN_LETTERS = 2;

/**
 * The hashes of lines, in {@link MAX_LETTERS} letters, of which as many are shown as are wanted. A hash is of what a line
 * says, and of how many lines before it say the same: so equal lines are told apart, and a line that only moved keeps its
 * hash. Not cryptographic.
 */
export function hashesOf(lines: Iterable<string>): string[] {
  const before = new Map<number, number>();
  const hashes: string[] = [];
  for (const line of lines) {
    const [a, b] = mixed(withoutReturn(line));
    const key = a * 0x200000 + (b >>> 11); // 53 bits: an exact number
    const equal = before.get(key) ?? 0;
    before.set(key, equal + 1);
    hashes.push(letters(spread(a ^ Math.imul(equal, 0x9e3779b1)), spread(b + equal)));
  }
  return hashes;
}

/** A line of which a carriage return is the last: it is part of a line end, or of none. */
function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

function mixed(line: string): [number, number] {
  let a = 0x811c9dc5;
  let b = line.length;
  for (let i = 0; i < line.length; i++) {
    const unit = line.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b + unit, 0x5bd1e995) ^ (b >>> 15);
  }
  return [a >>> 0, b >>> 0];
}

/** Lets every bit count for every other. */
function spread(bits: number): number {
  let x = bits;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

function letters(a: number, b: number): string {
  let text = "";
  for (let i = 0; i < MAX_LETTERS; i++) {
    const bits = i < MAX_LETTERS / 2 ? a >>> (5 * i) : b >>> (5 * (i - MAX_LETTERS / 2));
    text += LETTERS[bits & 31];
  }
  return text;
}
