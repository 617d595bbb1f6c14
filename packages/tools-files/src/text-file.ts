import { type FileStat, type FileSystem, quote } from "@shedkit/fs";
import type { ToolContext } from "@shedkit/tool";
import { Failure, unread } from "./failure.js";
import { assertFresh, seenFiles } from "./seen.js";
import { isBinary } from "./text/binary.js";
import { decodeText, ENCODING_NAMES, type Encoding, encodeText } from "./text/encoding.js";
import { plural } from "./text/format.js";
import { fingerprint } from "./text/hash.js";

/** How large a file may be to be changed, in bytes: it is held in memory. */
const MAX_BYTES = 256 * 1024 * 1024;

/** A file that was read as text. */
export interface TextFile {
  /** Canonical, relative to the root. */
  real: string;
  stat: FileStat;
  /** What it holds, byte for byte. */
  bytes: Uint8Array;
  text: string;
  encoding: Encoding;
}

/**
 * A text file to be changed. Throws Failure where it is none, is too large, or is not what the agent saw; with
 * `readFirst` also where the agent has not seen it.
 */
export async function openText(
  fs: FileSystem,
  path: string,
  stat: FileStat,
  ctx: ToolContext,
  readFirst: boolean,
): Promise<TextFile> {
  const file = await loadText(fs, path, stat, ctx);
  const seen = seenFiles(fs, ctx).get(file.real);
  if (readFirst && !seen) throw unread(path, ctx);
  assertFresh(path, seen, stat, { bytes: file.bytes, fingerprint: fingerprint(file.bytes) }, ctx);
  return file;
}

/** A text file as it is, whatever the agent saw of it. Throws Failure where it is none, or is too large. */
export async function loadText(fs: FileSystem, path: string, stat: FileStat, ctx: ToolContext): Promise<TextFile> {
  if (stat.type === "directory")
    throw new Failure(`a folder: ${quote(path)}`, `${quote(path)} is a folder, not a file.`);
  if (stat.size > MAX_BYTES) {
    const text = `${quote(path)} is too large for this tool (${plural(stat.size, "byte")}).`;
    throw new Failure(`too large: ${quote(path)}`, text);
  }
  const real = await fs.realpath(path, { signal: ctx.signal });
  const bytes = await fs.readFile(path, { signal: ctx.signal });
  if (isBinary(bytes)) {
    const text = `${quote(path)} is not a text file (${plural(bytes.length, "byte")}).`;
    throw new Failure(`not a text file: ${quote(path)}`, `${text} Only text can be read and changed.`);
  }
  return { real, stat, bytes, ...decodeText(bytes) };
}

/** The bytes of a text for a file. Throws Failure for characters that its encoding does not have. */
export function bytesFor(path: string, text: string, encoding: Encoding): Uint8Array {
  const halves = encoding === "utf-8-mixed" ? /[\ud800-\udc7f\udd00-\udfff]/u : /\p{Surrogate}/u;
  if (halves.test(text) && !encoding.startsWith("utf-16")) {
    throw new Failure(
      "half a character",
      "The new text has half a character in it (a lone surrogate). Write it whole.",
    );
  }
  const encoded = encodeText(text, encoding);
  if ("bytes" in encoded) return encoded.bytes;
  throw new Failure(
    "not in the file's encoding",
    `${quote(path)} is ${ENCODING_NAMES[encoding]}, which has no ${JSON.stringify(encoded.missing)}. ` +
      "Nothing was written. Use characters that it has, or write the whole file anew.",
  );
}

/** Writes a text in the encoding given, and remembers it as seen. Throws Failure as {@link bytesFor} does. */
export async function saveText(
  fs: FileSystem,
  path: string,
  text: string,
  encoding: Encoding,
  ifVersion: string | null,
  ctx: ToolContext,
): Promise<FileStat> {
  const bytes = bytesFor(path, text, encoding);
  const stat = await fs.writeFile(path, bytes, { ifVersion, signal: ctx.signal });
  const real = await fs.realpath(path, { signal: ctx.signal });
  seenFiles(fs, ctx).set(real, { version: stat.version, fingerprint: fingerprint(bytes), content: bytes });
  return stat;
}
