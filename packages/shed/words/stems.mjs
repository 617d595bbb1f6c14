import { STOP_WORDS } from "../src/search/stop-words.ts";
import { stem as stemOf, wordsOf } from "../src/search/words.ts";

const stems = new Map();

/** The stem of a word; the words of all texts are kept. */
export function stem(word) {
  let known = stems.get(word);
  if (known === undefined) {
    known = stemOf(word);
    stems.set(word, known);
  }
  return known;
}

/** The stems of a text, without the words that only join others and without single letters. */
export function stemsOf(text) {
  return wordsOf(text)
    .filter((word) => !STOP_WORDS.has(word))
    .map(stem)
    .filter(({ length }) => length > 1);
}
