/** How the bytes of a text file are read. Every one gives back the same bytes for the same text. */
export type Encoding = "utf-8" | "utf-8-bom" | "utf-8-mixed" | "utf-16le" | "utf-16be" | "windows-1252";

/** A file's text, and what it takes to write it as it was. */
export interface DecodedText {
  /**
   * Without a byte order mark. Of `utf-8-mixed` each byte that is no UTF-8 is a lone surrogate, U+DC80 for 0x80 and so on:
   * no other text has these, and the byte can be given back.
   */
  text: string;
  encoding: Encoding;
}

/** Tells a byte order mark, with its length; undefined where there is none. */
export function byteOrderMark(bytes: Uint8Array): { encoding: Encoding; length: number } | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { encoding: "utf-8-bom", length: 3 };
  const utf32 = bytes[0] === 0xff && bytes[1] === 0xfe && bytes[2] === 0 && bytes[3] === 0;
  if (bytes[0] === 0xff && bytes[1] === 0xfe && !utf32) return { encoding: "utf-16le", length: 2 };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: "utf-16be", length: 2 };
  return undefined;
}

/**
 * The whole content of a file as text: by its byte order mark, else UTF-8, else UTF-8 with some bytes that are none, else
 * Windows-1252. {@link encodeText} gives back the same bytes.
 */
export function decodeText(bytes: Uint8Array): DecodedText {
  const mark = byteOrderMark(bytes);
  if (!mark) return decodeBody(bytes, undefined);
  const marked = decodeBody(bytes.subarray(mark.length), mark.encoding);
  // What is not what its mark says keeps the mark as text.
  return marked.encoding === mark.encoding ? marked : decodeBody(bytes, undefined);
}

/** Text of a file, or a part of it that begins and ends between characters, its byte order mark taken off. */
export function decodeBody(body: Uint8Array, marked: Encoding | undefined): DecodedText {
  if (marked === "utf-16le" || marked === "utf-16be") {
    if (body.length % 2 === 0) return { text: decodeUtf16(body, marked === "utf-16le"), encoding: marked };
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
    return { text, encoding: marked === "utf-8-bom" ? marked : "utf-8" };
  } catch {
    const mixed = decodeMixed(body);
    if (mixed !== undefined) return { text: mixed, encoding: "utf-8-mixed" };
    return { text: decodeWindows1252(body), encoding: "windows-1252" };
  }
}

/** The bytes of a text, mark included; or the first character that the encoding has no bytes for. */
export function encodeText(text: string, encoding: Encoding): { bytes: Uint8Array } | { missing: string } {
  if (encoding === "windows-1252") return encodeWindows1252(text);
  if (encoding === "utf-8-mixed") return { bytes: encodeMixed(text) };
  if (encoding === "utf-16le" || encoding === "utf-16be") {
    return { bytes: encodeUtf16(`\ufeff${text}`, encoding === "utf-16le") };
  }
  return { bytes: new TextEncoder().encode(encoding === "utf-8-bom" ? `\ufeff${text}` : text) };
}

/** For messages. */
export const ENCODING_NAMES: { readonly [E in Encoding]: string } = {
  "utf-8": "UTF-8",
  "utf-8-bom": "UTF-8 with a byte order mark",
  "utf-8-mixed": "UTF-8 with some bytes that are none",
  "utf-16le": "UTF-16 (little-endian)",
  "utf-16be": "UTF-16 (big-endian)",
  "windows-1252": "not UTF-8 (taken as Windows-1252)",
};

const STEP = 8192; // how many arguments String.fromCharCode takes at once

function decodeUtf16(bytes: Uint8Array, little: boolean): string {
  const units = new Uint16Array(bytes.length / 2);
  const [low, high] = little ? [0, 1] : [1, 0];
  for (let i = 0; i < units.length; i++) units[i] = (bytes[2 * i + low] ?? 0) | ((bytes[2 * i + high] ?? 0) << 8);
  return fromUnits(units);
}

function encodeUtf16(text: string, little: boolean): Uint8Array {
  const bytes = new Uint8Array(text.length * 2);
  const [low, high] = little ? [0, 1] : [1, 0];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    bytes[2 * i + low] = unit & 0xff;
    bytes[2 * i + high] = unit >> 8;
  }
  return bytes;
}

const LONE = 0xdc00; // and the byte: a lone surrogate

/** Undefined where less than half of what is beyond ASCII is UTF-8: then it is likely something else. */
function decodeMixed(bytes: Uint8Array): string | undefined {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const pieces: string[] = [];
  let [good, bad, from] = [0, 0, 0];
  for (let i = 0; i < bytes.length; ) {
    const length = characterLength(bytes, i);
    if (length > 1) good++;
    if (length === 0) {
      bad++;
      if (i > from) pieces.push(decoder.decode(bytes.subarray(from, i)));
      pieces.push(String.fromCharCode(LONE + (bytes[i] ?? 0)));
      from = i + 1;
    }
    i += Math.max(length, 1);
  }
  if (good < bad) return undefined;
  pieces.push(decoder.decode(bytes.subarray(from)));
  return pieces.join("");
}

/** How many bytes the character has that begins at a place; 0 for a byte that begins none (RFC 3629, section 4). */
function characterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length = first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  for (let i = 1; i < length; i++) {
    const byte = bytes[at + i] ?? 0;
    if (byte < (i === 1 ? least : 0x80) || byte > (i === 1 ? most : 0xbf)) return 0;
  }
  return length;
}

function encodeMixed(text: string): Uint8Array {
  const encoder = new TextEncoder();
  // Every other piece is one of the bytes that are no UTF-8.
  const pieces = text
    .split(/([\udc80-\udcff])/u)
    .map((piece, i) => (i % 2 === 0 ? encoder.encode(piece) : Uint8Array.of(piece.charCodeAt(0) - LONE)));
  const bytes = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

// Bytes 0x80 to 0x9f; the other bytes are the code points of the same number (encoding.spec.whatwg.org, windows-1252).
const HIGH = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

function decodeWindows1252(bytes: Uint8Array): string {
  const units = new Uint16Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    units[i] = byte >= 0x80 && byte < 0xa0 ? HIGH.charCodeAt(byte - 0x80) : byte;
  }
  return fromUnits(units);
}

function encodeWindows1252(text: string): { bytes: Uint8Array } | { missing: string } {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80 || (unit >= 0xa0 && unit <= 0xff)) bytes[i] = unit;
    else {
      const at = HIGH.indexOf(text.charAt(i));
      if (at < 0) return { missing: String.fromCodePoint(text.codePointAt(i) ?? unit) };
      bytes[i] = 0x80 + at;
    }
  }
  return { bytes };
}

function fromUnits(units: Uint16Array): string {
  let text = "";
  for (let i = 0; i < units.length; i += STEP) text += String.fromCharCode(...units.subarray(i, i + STEP));
  return text;
}
