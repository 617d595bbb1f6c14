/** A piece of JSON: a bracket, comma or colon by itself, a whole string, a number. */
export type JsonToken = "{" | "}" | "[" | "]" | "," | ":" | "string" | "number";

/**
 * Tells each piece of a text with its place, in one pass that takes no stack; what is no piece (space, words, a string
 * that does not end) is passed over.
 */
export function walkJson(text: string, visit: (token: JsonToken, start: number, end: number) => void): void {
  let at = 0;
  while (at < text.length) {
    const start = at;
    const code = text.charCodeAt(at);
    at++;
    if (code === QUOTE) {
      at = endOfString(text, at);
      if (at <= text.length) visit("string", start, at);
    } else if (code === MINUS || isDigit(code)) {
      while (at < text.length && isOfNumber(text.charCodeAt(at))) at++;
      visit("number", start, at);
    } else {
      const token = SINGLE.get(code);
      if (token !== undefined) visit(token, start, at);
    }
  }
}

const QUOTE = 34;
const BACKSLASH = 92;
const PLUS = 43;
const MINUS = 45;
const POINT = 46;
const SMALL_E = 101;
const BIG_E = 69;
const SINGLE: ReadonlyMap<number, JsonToken> = new Map(
  (["{", "}", "[", "]", ",", ":"] as const).map((token) => [token.charCodeAt(0), token]),
);

/** After the closing quote; past the end of the text where there is none. */
function endOfString(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at + 1;
  }
  return text.length + 1;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isOfNumber(code: number): boolean {
  return isDigit(code) || code === POINT || code === SMALL_E || code === BIG_E || code === PLUS || code === MINUS;
}
