import { STOP_WORDS } from "./stop-words.js";
import { stem, wordsOf } from "./words.js";

const MAX_WORDS = 64; // a query that is a whole document costs no more than a long one

/** The stems of a query's words, each once. Words that only join others are left out, unless there are no others. */
export function stemsOf(query: string): ReadonlySet<string> {
  const words = wordsOf(query.slice(0, MAX_CHARACTERS));
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return new Set((telling.length > 0 ? telling : words).slice(0, MAX_WORDS).map(stem));
}

const MAX_CHARACTERS = 4000;
