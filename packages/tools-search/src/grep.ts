import type { FileSystem } from "@shedkit/fs";
import type { Clock } from "./clock.js";
import { textOf } from "./file-text.js";
import type { Matcher, Spans } from "./pattern.js";

/** A line that was found, or that stands beside one. */
interface FoundLine {
  /** From 1. */
  number: number;
  /** What it is named by in place of its number. */
  anchor?: string | undefined;
  text: string;
  /** False for a line that only stands beside one. */
  match: boolean;
}

export interface FoundFile {
  path: string;
  lines: FoundLine[];
  /** How many lines match, where they were only counted. */
  count?: number | undefined;
}

/** How lines are told to whoever is to change them. */
export interface LineForm {
  /** The text of a file; undefined where it has none. */
  decode(bytes: Uint8Array): string | undefined;
  /** Names the lines of a file, by their place from 0. They are as they are parted by line feeds. */
  anchors(lines: readonly string[]): (index: number) => string;
}

export interface GrepRequest {
  matchers: readonly Matcher[];
  /** One of these stands in every file with a match; none: nothing is known. */
  texts: readonly string[];
  ignoreCase: boolean;
  /** In place of these: looks at whole texts, for matches of several lines. */
  spans?: Spans | undefined;
  context: number;
  /** In place of the lines keeps the files that have some: their paths alone, or with how many lines match. */
  tally?: "files" | "counts" | undefined;
  /** How many matching lines are kept; how many files of a tally. */
  limit: number;
  /** How many more are counted. */
  countTo: number;
  maxBytes: number;
  clock: Clock;
  signal: AbortSignal;
  /** Default: as most files are, by their numbers. */
  form?: LineForm | undefined;
  /** Is given each file with what was found in it, as soon as that is known. */
  onFile?: ((file: FoundFile) => void) | undefined;
}

export interface GrepResult {
  files: FoundFile[];
  /** Matching lines kept, and those that were only counted; files of a tally. */
  shown: number;
  more: number;
  /** In how many files the latter are, where they are lines. */
  moreFiles: number;
  tooLarge: number;
  /** Why it did not come to the end. */
  stopped?: "enough" | "late" | undefined;
}

const AT_ONCE = 16; // files read at the same time
const LINES_A_LOOK = 256; // between two looks at the time
const MAX_LINE = 1000; // characters of a line that are shown

/** Looks for lines in files, in the order in which they come. */
export async function grep(fs: FileSystem, paths: AsyncIterable<string>, request: GrepRequest): Promise<GrepResult> {
  const result: GrepResult = { files: [], shown: 0, more: 0, moreFiles: 0, tooLarge: 0 };
  const reading: { path: string; text: Promise<string | undefined | "tooLarge"> }[] = [];
  const look = async (): Promise<boolean> => {
    const next = reading.shift();
    const text = await next?.text;
    if (!next || text === undefined) return true;
    if (text === "tooLarge") result.tooLarge++;
    else (request.tally ? tallyUp : lookThrough)(next.path, text, request, result);
    return result.stopped === undefined;
  };
  try {
    for await (const path of paths) {
      const text = textOf(fs, path, request);
      text.catch(() => {}); // where nobody comes to look at it
      reading.push({ path, text });
      if (reading.length >= AT_ONCE && !(await look())) return result;
      if (request.clock.late()) {
        result.stopped = "late";
        return result;
      }
    }
    while (reading.length > 0) if (!(await look())) return result;
    if (request.clock.cut) result.stopped = "late";
    return result;
  } finally {
    await Promise.allSettled(reading.map(({ text }) => text));
  }
}

/** The lines of a text, and where in one the first match begins; -1 where there is none. */
function linesOf(
  text: string,
  { matchers, spans, clock }: GrepRequest,
): { lines: string[]; matchOn(i: number, line: string): number } {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const spanned = spans && linesIn(text, spans, clock.late);
  const matchOn = (i: number, line: string): number => {
    if (spanned) return spanned.has(i) ? 0 : -1;
    return firstMatch(matchers, line);
  };
  return { lines, matchOn };
}

function tallyUp(path: string, text: string, request: GrepRequest, result: GrepResult): void {
  const { lines, matchOn } = linesOf(text, request);
  const enough = request.tally === "files" || result.shown >= request.limit ? 1 : lines.length;
  let count = 0;
  for (let i = 0; i < lines.length && count < enough; i++) {
    if (i % LINES_A_LOOK === 0 && request.clock.late()) {
      result.stopped = "late";
      break;
    }
    if (matchOn(i, withoutReturn(lines[i] ?? "")) >= 0) count++;
  }
  if (count === 0) return;
  if (result.shown >= request.limit) {
    result.more++;
    if (result.more >= request.countTo) result.stopped = "enough";
    return;
  }
  const file: FoundFile = { path, lines: [], count };
  result.shown++;
  result.files.push(file);
  request.onFile?.(file);
}

function lookThrough(path: string, text: string, request: GrepRequest, result: GrepResult): void {
  const { context, limit, countTo } = request;
  const { lines, matchOn } = linesOf(text, request);
  const found: FoundLine[] = [];
  let moreHere = 0;
  for (let i = 0; i < lines.length; i++) {
    if (i % LINES_A_LOOK === 0 && request.clock.late()) {
      result.stopped = "late";
      break;
    }
    const line = withoutReturn(lines[i] ?? "");
    const at = matchOn(i, line);
    if (at < 0) continue;
    if (result.shown >= limit) {
      moreHere++;
      if (result.more + moreHere >= countTo) {
        result.stopped = "enough";
        break;
      }
      continue;
    }
    result.shown++;
    beside(found, lines, Math.max(i - context, found.at(-1)?.number ?? 0), i);
    found.push({ number: i + 1, text: clipped(line, at), match: true });
    // What stands after it, up to the next match.
    let end = i + 1;
    while (end < lines.length && end <= i + context && matchOn(end, withoutReturn(lines[end] ?? "")) < 0) end++;
    beside(found, lines, i + 1, end);
    i = end - 1;
  }
  if (found.length > 0) {
    const anchor = request.form?.anchors(lines);
    if (anchor) for (const line of found) line.anchor = anchor(line.number - 1);
    result.files.push({ path, lines: found });
    request.onFile?.({ path, lines: found });
  }
  result.more += moreHere;
  if (moreHere > 0) result.moreFiles++;
}

/** The lines that matches go over. */
function linesIn(text: string, spans: Spans, late: () => boolean): Set<number> {
  const lines = new Set<number>();
  for (const [first, last] of spans(text.replaceAll("\r\n", "\n"))) {
    for (let line = first; line <= last; line++) lines.add(line);
    if (late()) break;
  }
  return lines;
}

function beside(found: FoundLine[], lines: readonly string[], from: number, to: number): void {
  for (let i = from; i < to; i++) {
    found.push({ number: i + 1, text: clipped(withoutReturn(lines[i] ?? ""), 0), match: false });
  }
}

function firstMatch(matchers: readonly Matcher[], line: string): number {
  for (const matcher of matchers) {
    const at = matcher.at(line);
    if (at >= 0) return at;
  }
  return -1;
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

/** A line, or the part of a long one in which the match begins. */
function clipped(line: string, at: number): string {
  if (line.length <= MAX_LINE) return line;
  const start = at < MAX_LINE / 2 ? 0 : Math.min(at - MAX_LINE / 4, line.length - MAX_LINE);
  const part = line.slice(start, start + MAX_LINE).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
  const after = line.length - start - MAX_LINE;
  return `${start > 0 ? `[${start} characters] ` : ""}${part}${after > 0 ? ` [${after} more characters]` : ""}`;
}
