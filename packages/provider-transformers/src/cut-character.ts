import type { CodeRange } from "@shedkit/text-tools/backend";

/** Bytes that end inside a character: the text before it, and what it may become. */
export interface CutText {
  text: string;
  becomes: CodeRange;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text that the bytes are; undefined where they are none, or end inside a character. */
export function wholeText(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

/** What such bytes are; undefined where they are no beginning of a text in UTF-8, or end with a whole character. */
export function cutText(bytes: Uint8Array): CutText | undefined {
  const start = bytes.findLastIndex((byte) => byte >= 0xc0);
  const becomes = start < 0 ? undefined : mayBecome(bytes.subarray(start));
  if (!becomes) return undefined;
  const text = wholeText(bytes.subarray(0, start));
  return text === undefined ? undefined : { text, becomes };
}

/** The characters that begin with these bytes, which are fewer than it has. */
function mayBecome(bytes: Uint8Array): CodeRange | undefined {
  const [lead = 0, ...rest] = bytes;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (bytes.length >= length || rest.some((byte) => byte < 0x80 || byte >= 0xc0)) return undefined;
  const bits = rest.reduce((sum, byte) => sum * 64 + (byte & 0x3f), lead & (0xff >> (length + 1)));
  const unknown = 64 ** (length - bytes.length);
  const low = Math.max(bits * unknown, SHORTEST[length] ?? 0);
  const high = Math.min(bits * unknown + unknown - 1, 0x10ffff);
  return low > high || (low >= 0xd800 && high <= 0xdfff) ? undefined : [low, high];
}

/** The first character that takes so many bytes. */
const SHORTEST: { readonly [length: number]: number } = { 2: 0x80, 3: 0x800, 4: 0x10000 };
