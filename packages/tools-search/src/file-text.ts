import { type FileSystem, isFsError } from "@shedkit/fs";
import type { GrepRequest } from "./grep.js";

const SAMPLE = 8192;

/** The text of a file; undefined where it has none, or is gone. */
export async function textOf(
  fs: FileSystem,
  path: string,
  request: GrepRequest,
): Promise<string | undefined | "tooLarge"> {
  const { maxBytes, form, signal } = request;
  try {
    // One byte more than may be tells a larger file, without asking for its size first.
    const bytes = await fs.readFile(path, { end: maxBytes + 1, signal });
    if (bytes.length <= maxBytes) return (form?.decode ?? decode)(bytes);
    return encodingOf(bytes) && (await mayMatch(fs, path, request)) ? "tooLarge" : undefined;
  } catch (error) {
    if (isFsError(error)) return undefined;
    throw error;
  }
}

/** Whether a file that is too large to be looked through has a text in it that every match has. */
async function mayMatch(
  fs: FileSystem,
  path: string,
  { texts, ignoreCase, clock, signal }: GrepRequest,
): Promise<boolean> {
  if (texts.length === 0) return true;
  const one = new RegExp(
    texts.map((text) => text.replace(/[\^$\\.*+?()[\]{}|/]/g, "\\$&")).join("|"),
    ignoreCase ? "iu" : "u",
  );
  const most = Math.max(...texts.map((text) => text.length)) - 1;
  let decoder: TextDecoder | undefined;
  let text = "";
  for await (const chunk of fs.readChunks(path, { signal })) {
    decoder ??= new TextDecoder(encodingOf(chunk));
    text = text.slice(Math.max(text.length - most, 0)) + decoder.decode(chunk, { stream: true });
    if (one.test(text)) return true;
    if (clock.late()) return true; // nobody knows
  }
  return false;
}

/** How a file's text is written, by its first bytes; undefined where it is none. */
function encodingOf(bytes: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" | undefined {
  const [a, b] = bytes;
  if (a === 0xff && b === 0xfe) return "utf-16le";
  if (a === 0xfe && b === 0xff) return "utf-16be";
  return bytes.subarray(0, SAMPLE).includes(0) ? undefined : "utf-8";
}

function decode(bytes: Uint8Array): string | undefined {
  const encoding = encodingOf(bytes);
  return encoding && new TextDecoder(encoding).decode(bytes);
}
