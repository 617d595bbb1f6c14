import { DataCount } from "../text/data-uri.js";
import { byteOrderMark, decodeBody, type Encoding } from "../text/encoding.js";
import { Fingerprint, MAX_FINGERPRINTED } from "../text/hash.js";

/** Bytes that can be gone through more than once. */
export interface Source {
  size: number;
  chunks(): AsyncIterable<Uint8Array>;
}

export interface Window {
  /** The lines, joined by their own line ends; the end of the last is not in it. */
  text: string;
  encoding: Encoding;
  /** Number of the first line asked for, from 1. */
  first: number;
  /** How many lines `text` has. */
  lines: number;
  /** How many lines were asked for and are there. */
  wanted: number;
  /** Size of the lines asked for, without the base64 of data URIs. */
  wantedBytes: number;
  /** How many lines the file has: line feeds and one. Undefined where a very large file was not counted to its end. */
  total: number | undefined;
  /** Of the whole content; absent where that was not gone through, or is large. */
  fingerprint: string | undefined;
  /** The whole content of a small file. */
  whole: Uint8Array | undefined;
}

export interface WindowOptions {
  /** First line, from 1; negative: from the end, where -1 is what follows the last line feed; 0 is 1. */
  offset: number;
  limit: number;
  /** Without the base64 of data URIs, of which there may be 8 MiB. */
  maxBytes: number;
  /** Is shown the first bytes; throws to refuse the file. */
  inspect?(first: Uint8Array): void;
}

const MAX_DATA = 8 * 1024 * 1024; // base64 of data URIs, in bytes
const COUNTED_BEYOND = 256 * 1024 * 1024; // how far lines are counted after the window, in bytes

/** Takes some lines out of a file of any size, holding no more than these in memory. */
export async function readWindow(source: Source, options: WindowOptions): Promise<Window> {
  const first = options.offset < 0 ? await fromEnd(source, options.offset) : Math.max(options.offset, 1);
  const taken = new Taken(options.maxBytes);
  const whole = source.size <= MAX_FINGERPRINTED ? new Fingerprint() : undefined;
  let only: Uint8Array | undefined; // the first bytes; of a small file all
  const last = first + options.limit - 1;
  let marked: ReturnType<typeof byteOrderMark>;
  let started = false;
  let line = 1;
  let beyond = 0;
  let ended = true;
  for await (const chunk of source.chunks()) {
    let at = 0;
    if (!started) {
      options.inspect?.(chunk);
      marked = byteOrderMark(chunk);
      at = marked?.length ?? 0;
      started = true;
      only = chunk;
    }
    whole?.add(chunk);
    while (at < chunk.length) {
      // What stands before and after the window is only counted.
      const skipped = line < first ? first - line : line > last ? Number.POSITIVE_INFINITY : 0;
      if (skipped > 0 && unitBytes(marked?.encoding) === 1) {
        const [feeds, next] = skipLines(chunk, at, skipped);
        line += feeds;
        at = next;
        continue;
      }
      const feed = lineFeed(chunk, at, marked?.encoding);
      const end = feed < 0 ? chunk.length : feed;
      if (line >= first && line <= last) taken.add(chunk, at, end, line);
      at = end;
      if (feed < 0) continue;
      at += unitBytes(marked?.encoding);
      if (line >= first && line < last) taken.add(chunk, end, at, line);
      line++;
    }
    if (line <= last) continue;
    beyond += chunk.length;
    if (beyond <= COUNTED_BEYOND) continue;
    ended = false;
    break;
  }
  const { text, encoding } = decodeBody(taken.bytes(), marked?.encoding);
  const wanted = Math.max(Math.min(last, line) - first + 1, 0);
  const cut = taken.cutAt !== undefined;
  return {
    text: cut || line > last ? text.replace(cut ? /\r?\n$/ : /\r$/, "") : text,
    encoding,
    first,
    lines: taken.cutAt === undefined ? wanted : taken.cutAt - first,
    wanted,
    wantedBytes: taken.seen,
    total: ended ? line : undefined,
    fingerprint: ended ? whole?.toString() : undefined,
    whole: only?.length === source.size ? only : undefined,
  };
}

/** The bytes of a window, until they are too many: then up to the last line that fits. */
class Taken {
  readonly #max: number;
  readonly #count = new DataCount();
  #pieces: Uint8Array[] = [];
  #size = 0;
  #data = 0; // how much of that is base64 of data URIs
  #lineStart = 0; // where the bytes of the current line begin
  #line = 0;
  seen = 0;
  /** The line at which it became too much. */
  cutAt: number | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  add(chunk: Uint8Array, start: number, end: number, line: number): void {
    const data = this.#count.add(chunk, start, end);
    this.seen += end - start - data;
    if (this.cutAt !== undefined) return;
    if (line !== this.#line) {
      this.#line = line;
      this.#lineStart = this.#size;
    }
    this.#data += data;
    if (this.#size + end - start - Math.min(this.#data, MAX_DATA) > this.#max) {
      this.cutAt = line;
      return;
    }
    if (end > start) this.#pieces.push(chunk.subarray(start, end));
    this.#size += end - start;
  }

  bytes(): Uint8Array {
    const bytes = new Uint8Array(this.#size);
    let at = 0;
    for (const piece of this.#pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return this.cutAt === undefined ? bytes : bytes.subarray(0, this.#lineStart);
  }
}

/** The number of a line counted from the end. A file without a line feed at its end counts as if it had one. */
async function fromEnd(source: Source, offset: number): Promise<number> {
  let encoding: Encoding | undefined;
  let started = false;
  let feeds = 0;
  let afterFeed = true;
  for await (const chunk of source.chunks()) {
    if (!started) encoding = byteOrderMark(chunk)?.encoding;
    started = true;
    if (unitBytes(encoding) === 1) {
      feeds += skipLines(chunk, 0, Number.POSITIVE_INFINITY)[0];
      afterFeed = chunk.length === 0 ? afterFeed : chunk.at(-1) === 10;
      continue;
    }
    let at = 0;
    for (let feed = lineFeed(chunk, at, encoding); feed >= 0; feed = lineFeed(chunk, at, encoding)) {
      feeds++;
      at = feed + unitBytes(encoding);
    }
    afterFeed = at === chunk.length;
  }
  const fields = afterFeed ? feeds + 1 : feeds + 2;
  return Math.max(fields + offset + 1, 1);
}

function unitBytes(encoding: Encoding | undefined): number {
  return encoding === "utf-16le" || encoding === "utf-16be" ? 2 : 1;
}

/** How many line feeds stand from a place on, `most` at most, and the place after the last of these; without that many the end. */
function skipLines(chunk: Uint8Array, from: number, most: number): [feeds: number, next: number] {
  let feeds = 0;
  for (let i = from; i < chunk.length; i++) if (chunk[i] === 10 && ++feeds >= most) return [feeds, i + 1];
  return [feeds, chunk.length];
}

/** Where the next line feed begins, or -1. Chunks of UTF-16 begin and end between units. */
function lineFeed(chunk: Uint8Array, from: number, encoding: Encoding | undefined): number {
  if (unitBytes(encoding) === 1) return chunk.indexOf(10, from);
  const [low, high] = encoding === "utf-16le" ? [0, 1] : [1, 0];
  for (let i = from; i + 1 < chunk.length; i += 2) if (chunk[i + low] === 10 && chunk[i + high] === 0) return i;
  return -1;
}
