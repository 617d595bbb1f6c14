/** A word of the query also finds longer ones that begin with it, from this length on. */
const PREFIX_LENGTH = 4;
/** Shorter words say less: in every language the common ones are short. */
const FULL_LENGTH = 5;
/** Scripts that write no spaces between words: each two neighbours count as a word. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** From 0 to 1: the share of the query's words that each text has, rare and long words counting more. */
export function scoresByWords(words: readonly string[], texts: readonly string[]): number[] {
  const has = texts.map((text) => {
    const there = new Set(wordsOf(text));
    return words.map((word) => there.has(word) || (word.length >= PREFIX_LENGTH && beginsOne(there, word)));
  });
  const weights = words.map((word, w) => {
    const count = has.filter((found) => found[w]).length;
    return Math.log(1 + (texts.length + 1) / (count + 1)) * substance(word);
  });
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return has.map((found) => found.reduce((sum, there, w) => sum + (there ? (weights[w] ?? 0) : 0), 0) / (all || 1));
}

function beginsOne(words: ReadonlySet<string>, start: string): boolean {
  for (const word of words) if (word.startsWith(start)) return true;
  return false;
}

function substance(word: string): number {
  return word.search(UNSPACED) >= 0 ? 1 : Math.min(1, word.length / FULL_LENGTH);
}

/** The words of a text, in lower case. */
export function wordsOf(text: string): string[] {
  const spaced = text.toLowerCase().replace(UNSPACED, (run) => {
    const characters = [...run];
    const pairs = characters.slice(1).map((character, i) => `${characters[i]}${character}`);
    return ` ${pairs.length > 0 ? pairs.join(" ") : run} `;
  });
  return spaced.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}
