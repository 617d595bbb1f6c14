import { type FileHandle, open } from "node:fs/promises";
import type { SessionRecord } from "@shedkit/types";
import { isMissing } from "./write-file.js";

/** A line of a log. `of` names the first and the last record of an append of several; half of one does not count. */
interface Line {
  seq: number;
  of?: [first: number, last: number] | undefined;
  record: SessionRecord;
}

/** The first line. A reader refuses a newer `v`. */
interface Header {
  shedkit: "log";
  v: number;
  session: string;
}

const VERSION = 1;
const CHUNK = 64 * 1024;
const NEWLINE = 10;

/** A file that is no log, or whose text somebody has changed. */
export class DamagedLog extends Error {}

/** Where a log ends: after the last append that is whole. */
export interface LogEnd {
  records: number;
  /** In bytes. */
  size: number;
  /** Of the file; more than `size` where an append was torn. */
  fileSize: number;
  last?: SessionRecord | undefined;
}

/** The text of a new log's header. */
export function headerText(session: string): string {
  const header: Header = { shedkit: "log", v: VERSION, session };
  return `${JSON.stringify(header)}\n`;
}

/** The text of an append after `before` records. */
export function appendText(bodies: readonly string[], before: number): string {
  const of = bodies.length > 1 ? `"of":[${before + 1},${before + bodies.length}],` : "";
  return bodies.map((body, i) => `{"seq":${before + i + 1},${of}"record":${body}}\n`).join("");
}

/** Reads one log file. The file may grow meanwhile; no line that was read ever changes. */
export class LogReader {
  readonly #file: FileHandle;
  readonly #path: string;

  private constructor(file: FileHandle, path: string) {
    this.#file = file;
    this.#path = path;
  }

  /** Undefined where there is no log. */
  static async open(path: string): Promise<LogReader | undefined> {
    try {
      return new LogReader(await open(path, "r"), path);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  /** Undefined where even the header is not whole: nothing was ever appended. */
  async header(): Promise<Header | undefined> {
    const { size } = await this.#file.stat();
    for await (const { text } of this.#lines(0, size)) {
      let header: Partial<Header> = {};
      try {
        header = JSON.parse(text) as Partial<Header>;
      } catch {} // told below
      if (header.shedkit !== "log" || typeof header.session !== "string") {
        throw new DamagedLog(`${this.#path} is no log of a session: its first line is not the header.`);
      }
      if (header.v !== VERSION) {
        throw new DamagedLog(`${this.#path} has format ${header.v}; this release reads ${VERSION}. Update @shedkit.`);
      }
      return header as Header;
    }
    return undefined;
  }

  async end(): Promise<LogEnd> {
    const { size: fileSize } = await this.#file.stat();
    let end = fileSize;
    for (;;) {
      const line = await this.#lineBefore(end);
      if (line === undefined) return { records: 0, size: 0, fileSize };
      if (line.start === 0) return { records: 0, size: line.end, fileSize }; // the header
      const parsed = parse(line.text);
      if (parsed !== undefined && parsed.seq === (parsed.of?.[1] ?? parsed.seq)) {
        return { records: parsed.seq, size: line.end, fileSize, last: parsed.record };
      }
      end = line.start; // not JSON, or of an append that is not whole: a crash tore it
    }
  }

  /** The records after `after` and up to `last`, which must be no further than {@link end}. */
  async *read(after: number, last: number, size: number): AsyncGenerator<Line, void, void> {
    if (after >= last) return;
    for await (const { text, start } of this.#lines(await this.#find(after + 1, size), size)) {
      if (start === 0) continue; // the header
      const line = parse(text);
      if (line === undefined) {
        throw new DamagedLog(
          `${this.#path} is damaged: the line at byte ${start} is no record. Mend it, or delete the session.`,
        );
      }
      if (line.seq > last) return;
      if (line.seq > after) yield line;
    }
  }

  /** A place at the beginning of a line, at or not far before record `seq`: lines are numbered, so halving finds it. */
  async #find(seq: number, size: number): Promise<number> {
    let [low, high] = [0, size];
    while (high - low > CHUNK) {
      const middle = Math.floor((low + high) / 2);
      const line = await this.#lineAfter(middle, high);
      const at = line && /^\{"seq":(\d+)/.exec(line.text)?.[1];
      if (line === undefined || at === undefined || Number(at) >= seq) high = middle;
      else low = line.start;
    }
    return low;
  }

  /** The first whole line that begins after `from`, and before `until`. */
  async #lineAfter(from: number, until: number): Promise<{ text: string; start: number } | undefined> {
    let first = true;
    for await (const line of this.#lines(from, until)) {
      if (!first) return line;
      first = false; // its beginning lies before `from`
    }
    return undefined;
  }

  /** The last line that ends with a newline at or before `end`. */
  async #lineBefore(end: number): Promise<{ text: string; start: number; end: number } | undefined> {
    const parts: Buffer[] = [];
    let lineEnd: number | undefined;
    for (let at = end; at > 0; ) {
      const from = Math.max(0, at - CHUNK);
      const chunk = await this.#bytes(from, at);
      let until = chunk.length;
      if (lineEnd === undefined) {
        const newline = chunk.lastIndexOf(NEWLINE);
        if (newline < 0) {
          at = from;
          continue;
        }
        lineEnd = from + newline + 1;
        until = newline;
      }
      const newline = until === 0 ? -1 : chunk.lastIndexOf(NEWLINE, until - 1);
      parts.unshift(chunk.subarray(newline + 1, until));
      if (newline >= 0 || from === 0) {
        return { text: Buffer.concat(parts).toString("utf8"), start: from + newline + 1, end: lineEnd };
      }
      at = from;
    }
    return undefined;
  }

  /** The lines between two places, without their newlines; what follows the last newline is no line. */
  async *#lines(from: number, until: number): AsyncGenerator<{ text: string; start: number }, void, void> {
    let parts: Buffer[] = [];
    let start = from;
    for (let at = from; at < until; ) {
      const chunk = await this.#bytes(at, Math.min(until, at + CHUNK));
      if (chunk.length === 0) return;
      let begin = 0;
      for (let newline = chunk.indexOf(NEWLINE); newline >= 0; newline = chunk.indexOf(NEWLINE, begin)) {
        parts.push(chunk.subarray(begin, newline));
        yield { text: (parts.length === 1 ? parts[0] : Buffer.concat(parts))?.toString("utf8") ?? "", start };
        parts = [];
        begin = newline + 1;
        start = at + begin;
      }
      parts.push(chunk.subarray(begin));
      at += chunk.length;
    }
  }

  async #bytes(from: number, until: number): Promise<Buffer> {
    const { buffer, bytesRead } = await this.#file.read(Buffer.allocUnsafe(until - from), 0, until - from, from);
    return buffer.subarray(0, bytesRead);
  }
}

function parse(text: string): Line | undefined {
  try {
    const line = JSON.parse(text) as Partial<Line> | null;
    return typeof line?.seq === "number" && typeof line.record === "object" ? (line as Line) : undefined;
  } catch {
    return undefined;
  }
}
