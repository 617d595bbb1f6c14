import { type KeptResults, keptResults, type Resources } from "@shedkit/tool";
import type { ContentPart } from "@shedkit/types";
import { MemoryKeptResults } from "./kept.js";

/** How long the text of a result may be where its tool does not say, in bytes of UTF-8. */
export const MAX_RESULT_BYTES = 40_000;

/** How long the text of a fault may be, in bytes of UTF-8. */
export const MAX_ERROR_BYTES = 8_000;

/** Content that is short enough for a prompt, and where the whole is, if that had to be cut. */
export interface CappedContent {
  readonly content: readonly ContentPart[];
  readonly handle?: string | undefined;
}

/**
 * Cuts text that is longer than `maxBytes` in the middle, at line ends where it can, and keeps the whole under a
 * handle that the text names. Parts that are not text stay.
 */
export function capContent(
  content: readonly ContentPart[],
  maxBytes: number,
  callId: string,
  resources: Resources,
): CappedContent {
  // A string of n units has n to 3n bytes: most results are settled without counting.
  const units = content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
  if (units * 3 <= maxBytes) return { content };
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const whole = texts.join("\n");
  const bytes = new TextEncoder().encode(whole);
  if (bytes.length <= maxBytes) return { content };
  const kept: KeptResults = resources.getOrDefault(keptResults, () => new MemoryKeptResults());
  const handle = kept.keep(callId, whole);
  const head = cutEnd(bytes.subarray(0, Math.ceil(maxBytes * HEAD_SHARE)));
  const tail = cutStart(bytes.subarray(bytes.length - Math.floor(maxBytes * (1 - HEAD_SHARE))));
  const left = bytes.length - utf8Length(head) - utf8Length(tail);
  const note = `[... ${left} of ${bytes.length} bytes left out; the whole result is kept as "${handle}" ...]`;
  const text: ContentPart = { type: "text", text: `${head}\n${note}\n${tail}` };
  return { content: [text, ...content.filter((part) => part.type !== "text")], handle };
}

/** The end of a result is where errors and sums stand, but its start says what it is. */
const HEAD_SHARE = 0.6;

/** Up to the last line end, if that loses little; never half a character. */
function cutEnd(bytes: Uint8Array): string {
  const text = decode(wholeCharacters(bytes));
  const line = text.lastIndexOf("\n");
  return line > text.length * 0.9 ? text.slice(0, line) : text;
}

function cutStart(bytes: Uint8Array): string {
  let start = 0;
  while (start < bytes.length && isContinuation(bytes[start])) start++;
  const text = decode(bytes.subarray(start));
  const line = text.indexOf("\n");
  return line >= 0 && line < text.length * 0.1 ? text.slice(line + 1) : text;
}

/** Without a last character of which some bytes are missing. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  let last = bytes.length - 1;
  while (last >= 0 && isContinuation(bytes[last])) last--;
  const lead = bytes[last] ?? 0;
  const size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return last + size <= bytes.length ? bytes : bytes.subarray(0, Math.max(last, 0));
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}
