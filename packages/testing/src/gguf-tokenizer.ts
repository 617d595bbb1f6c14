/** A byte-level BPE tokenizer, as GGUF files hold one. */
export interface TinyTokenizer {
  /** Ordinary tokens in the spelling of byte-level BPE, the others as they are. */
  tokens: string[];
  /** One a token: 1 ordinary, 3 control, 4 defined by the user. */
  types: number[];
  merges: string[];
}

const NORMAL = 1;
const CONTROL = 3;
const USER_DEFINED = 4;

export const BOS = 0;
export const EOS = 2;
const CONTROL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];

// Enough that ordinary English and JSON take some merges, so that a text has more than one tokenization.
const WORDS = ["the", "in", "is", "on", "er", "tool", "read", "name", "path", "file", '":', '{"', '",', '"}'];

/** Bytes, a few merged words, the control tokens, and `extra` texts as one token each. */
export function tinyTokenizer(extra: readonly string[]): TinyTokenizer {
  const tokens = [...CONTROL_TOKENS];
  const types = CONTROL_TOKENS.map(() => CONTROL);
  const merges: string[] = [];
  const known = new Set(tokens);
  const add = (token: string, type: number): void => {
    if (known.has(token)) return;
    known.add(token);
    tokens.push(token);
    types.push(type);
  };
  for (let byte = 0; byte < 256; byte++) add(spelling(byte), NORMAL);
  for (const word of WORDS) {
    for (let end = 2; end <= word.length; end++) {
      const merge = `${word.slice(0, end - 1)} ${word.charAt(end - 1)}`;
      if (!merges.includes(merge)) merges.push(merge);
      add(word.slice(0, end), NORMAL);
    }
  }
  for (const text of extra) add(text, USER_DEFINED);
  return { tokens, types, merges };
}

/** The id of the token of one byte. */
export function byteToken(byte: number): number {
  return CONTROL_TOKENS.length + byte;
}

/** Byte-level BPE writes printable bytes as themselves and the others as letters from 256 on. */
function spelling(byte: number): string {
  if (printable(byte)) return String.fromCharCode(byte);
  let before = 0;
  for (let other = 0; other < byte; other++) if (!printable(other)) before++;
  return String.fromCharCode(256 + before);
}

function printable(byte: number): boolean {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}
