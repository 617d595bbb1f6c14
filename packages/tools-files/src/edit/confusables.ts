import { MOST_MATCHES, MOST_PROBES } from "./indentation.js";
import type { Span } from "./replace.js";

/** Characters that look like plain ones, and what they look like. */
const PLAIN: ReadonlyMap<string, string> = new Map([
  ...pairs("‘’‚‛′", "'"),
  ...pairs("“”„‟″", '"'),
  ...pairs("‐‑‒–−", "-"),
  ["—", "--"],
  ["…", "..."],
  ...pairs("\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
  ...pairs("\u00ad\u061c\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", ""),
  ...pairs("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", ""),
]);

const ANY = new RegExp(`[${[...PLAIN.keys()].join("")}]`, "g");

function pairs(characters: string, plain: string): [string, string][] {
  return [...characters].map((character) => [character, plain]);
}

/** A text in plain characters, and the way back. */
class PlainView {
  readonly text: string;
  readonly #original: string;
  // Of each character that was replaced: its place before, and where its plain form begins and ends.
  readonly #at: number[] = [];
  readonly #from: number[] = [];
  readonly #to: number[] = [];

  constructor(original: string) {
    this.#original = original;
    let grown = 0;
    this.text = original.replace(ANY, (character: string, at: number) => {
      const plain = PLAIN.get(character) ?? character;
      this.#at.push(at);
      this.#from.push(at + grown);
      this.#to.push(at + grown + plain.length);
      grown += plain.length - 1;
      return plain;
    });
  }

  /** The place in the original; undefined inside the plain form of one character. */
  original(place: number): number | undefined {
    let low = 0;
    let high = this.#from.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#from[middle] ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    // `low` replaced characters begin before the place.
    const end = this.#to[low - 1];
    if (low === 0 || end === undefined) return place;
    if (end > place) return undefined;
    return (this.#at[low - 1] ?? 0) + 1 + (place - end);
  }

  slice(start: number, end?: number): string {
    return this.#original.slice(start, end);
  }
}

/** A text in plain characters: two that look alike have the same. */
export function plainText(text: string): string {
  return text.replace(ANY, (character) => PLAIN.get(character) ?? character);
}

export interface Lookalike extends Span {
  /** The text in the file. */
  text: string;
}

/** Where `old` stands in `text` if characters that look alike count as the same. */
export function findLookalikes(text: string, old: string): Lookalike[] {
  if (text.search(ANY) < 0 && old.search(ANY) < 0) return [];
  const view = new PlainView(text);
  const wanted = new PlainView(old).text;
  const found: Lookalike[] = [];
  if (wanted === "") return found;
  let at = view.text.indexOf(wanted);
  for (let probes = 0; at >= 0 && probes < MOST_PROBES && found.length < MOST_MATCHES; probes++) {
    const start = view.original(at);
    const end = view.original(at + wanted.length);
    if (start !== undefined && end !== undefined && start >= (found.at(-1)?.end ?? 0)) {
      found.push({ start, end, text: text.slice(start, end) });
    }
    at = view.text.indexOf(wanted, at + 1);
  }
  return found;
}

/** `replacement` for `there`, with the characters of `there` where it and `old` mean the same. */
export function keepLookalikes(there: string, replacement: string): string {
  const [old, next] = [new PlainView(there), new PlainView(replacement)];
  let head = 0;
  while (head < old.text.length && head < next.text.length && old.text[head] === next.text[head]) head++;
  while (head > 0 && (old.original(head) === undefined || next.original(head) === undefined)) head--;
  let tail = 0;
  const most = Math.min(old.text.length, next.text.length) - head;
  while (tail < most && old.text.at(-1 - tail) === next.text.at(-1 - tail)) tail++;
  const ends = () => [old.original(old.text.length - tail), next.original(next.text.length - tail)];
  while (tail > 0 && ends().includes(undefined)) tail--;
  const [oldEnd, nextEnd] = ends();
  return old.slice(0, old.original(head)) + next.slice(next.original(head) ?? 0, nextEnd) + old.slice(oldEnd ?? 0);
}

/** Which characters of two texts that look alike differ: `’ (U+2019) for '`, each once, at most eight. */
export function differences(there: string, given: string): string[] {
  const found = new Set<string>();
  for (const [character, plain] of PLAIN) {
    const name = (c: string) => `U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
    if (there.includes(character) && !given.includes(character)) {
      found.add(`${character} (${name(character)}) for ${JSON.stringify(plain)}`);
    } else if (given.includes(character) && !there.includes(character)) {
      found.add(`${JSON.stringify(plain)} for ${character} (${name(character)})`);
    }
  }
  return [...found].slice(0, 8);
}
