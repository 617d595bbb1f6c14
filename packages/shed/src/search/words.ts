import { stemmer } from "stemmer";

const WORD = /[\p{L}\p{M}]+|\p{N}+/gu;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
const ASCII = /^[\x00-\x7f]*$/;
const ASCII_WORD = /^[a-z]+$/;

/** The words of a text in lower case and without accents; `readFile`, `read_file` and `HTTPServer` are two each. */
export function wordsOf(text: string): string[] {
  return ASCII.test(text) ? asciiWordsOf(text) : anyWordsOf(text);
}

function asciiWordsOf(text: string): string[] {
  return (
    text
      .replace(/'(?:s|t|re|ve|ll|d|m)\b/gi, "")
      .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
      .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
      .toLowerCase()
      .match(/[a-z]+|[0-9]+/g) ?? []
  );
}

function anyWordsOf(text: string): string[] {
  const words: string[] = [];
  const spaced = text
    .normalize("NFKD")
    .replace(/['’](?:s|t|re|ve|ll|d|m)\b/gi, "")
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .replace(/\p{M}/gu, "")
    .toLowerCase();
  for (const [word] of spaced.matchAll(WORD)) {
    if (CJK.test(word)) pushPairs(word, words);
    else words.push(word);
  }
  return words;
}

/** The stem that forms of one word share. Words of other alphabets stay as they are. */
export function stem(word: string): string {
  let known = stems.get(word);
  if (known === undefined) {
    known = ASCII_WORD.test(word) ? stemmer(word) : word;
    if (stems.size >= MAX_STEMS) stems.clear();
    stems.set(word, known);
  }
  return known;
}

const MAX_STEMS = 10_000;
const stems = new Map<string, string>(); // the words of tools and queries come again and again

/** Scripts written without spaces: every pair of neighbours is a word. */
function pushPairs(text: string, words: string[]): void {
  const characters = Array.from(text);
  if (characters.length === 1) words.push(text);
  for (let i = 1; i < characters.length; i++) words.push(`${characters[i - 1]}${characters[i]}`);
}
