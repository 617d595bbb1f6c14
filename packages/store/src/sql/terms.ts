/** How much of a record's text can be found, in characters. An index of PostgreSQL takes a megabyte at most. */
const INDEXED_LENGTH = 100_000;
/** Longer "words" are data, not words. */
const WORD_LENGTH = 64;

/** Scripts that write no spaces between words: each character counts as a word, and a run of them as a phrase. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;

/** Text that every database takes: no U+0000, no half of a surrogate pair. */
export function plainText(text: string): string {
  return text.replaceAll("\u0000", " ").replace(/\p{Surrogate}/gu, "\ufffd");
}

/** Folded text for "does it hold this", whatever the case. */
export function foldText(text: string): string {
  return plainText(text.slice(0, INDEXED_LENGTH)).toLowerCase();
}

/** The words of a text as an index takes them: folded, without accents, with spaces between. */
export function indexedText(text: string): string {
  return phrasesOf(text.slice(0, INDEXED_LENGTH)).join(" ");
}

/** A query's words, each once. A word of a script without spaces is a phrase: its characters, with spaces between. */
export function phrasesOf(text: string): string[] {
  const folded = text
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC");
  const words = folded.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return words
    .filter((word) => word.length <= WORD_LENGTH || word.search(UNSPACED) >= 0)
    .map((word) => word.replace(UNSPACED, " $& ").replace(/ +/g, " ").trim());
}
