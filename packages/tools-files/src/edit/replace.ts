import { LfView } from "./lf-view.js";

/** A part of a text, in UTF-16 units. */
export interface Span {
  start: number;
  end: number;
}

/**
 * Where `old` stands in `text`: exactly, letter for letter, from left to right without overlap, except that a line end
 * matches a line end, CRLF or LF.
 */
export function findSpans(text: string, old: string): Span[] {
  if (!old.includes("\n")) return exactSpans(text, old);
  const lines = old.replaceAll("\r\n", "\n").split("\n");
  const first = lines[0] ?? "";
  const spans: Span[] = [];
  // A text that begins with a line end is looked for by that.
  const anchor = first === "" ? "\n" : first;
  for (let at = text.indexOf(anchor); at >= 0; ) {
    const start = first === "" && text[at - 1] === "\r" ? at - 1 : at;
    const end = endOfLines(text, start, lines);
    if (end !== undefined) spans.push({ start, end });
    at = text.indexOf(anchor, end !== undefined && end > at ? end : at + 1);
  }
  return spans;
}

/** Where lines end that begin at a place, if they stand there, parted by LF or CRLF. */
function endOfLines(text: string, start: number, lines: readonly string[]): number | undefined {
  let at = start;
  for (const [i, line] of lines.entries()) {
    if (i > 0) {
      if (text.startsWith("\r\n", at)) at += 2;
      else if (text[at] === "\n" && text[at - 1] !== "\r") at += 1;
      else return undefined;
    }
    if (!text.startsWith(line, at)) return undefined;
    at += line.length;
  }
  return at;
}

/** Also line ends letter for letter: for a change of line ends themselves. */
export function exactSpans(text: string, old: string): Span[] {
  const spans: Span[] = [];
  if (old === "") return spans;
  for (let at = text.indexOf(old); at >= 0; at = text.indexOf(old, at + old.length)) {
    spans.push({ start: at, end: at + old.length });
  }
  return spans;
}

/** True where two texts differ in nothing but line ends. */
export function sameButLineEnds(a: string, b: string): boolean {
  return a !== b && a.replaceAll("\r\n", "\n") === b.replaceAll("\r\n", "\n");
}

/**
 * The text with `replacement` in place of every span, and where each replacement begins and ends. What a span and the
 * replacement have in common at their ends is left alone, and new line ends are those of the lines they stand among, so
 * that a file keeps its CRLFs, also where only some lines have them.
 */
export function replaceSpans(
  text: string,
  spans: readonly Span[],
  replacement: string,
  options: { literal?: boolean | undefined } = {},
): { text: string; placed: Span[] } {
  const ends = new LineEnds(text);
  const pieces: string[] = [];
  const placed: Span[] = [];
  const literal = options.literal || !replacement.includes("\n") || !ends.any;
  let length = 0;
  let from = 0;
  for (const span of spans) {
    const fitted = literal ? replacement : fit(text, span, replacement, ends);
    pieces.push(text.slice(from, span.start), fitted);
    length += span.start - from;
    placed.push({ start: length, end: length + fitted.length });
    length += fitted.length;
    from = span.end;
  }
  pieces.push(text.slice(from));
  return { text: pieces.join(""), placed };
}

function fit(text: string, span: Span, replacement: string, around: LineEnds): string {
  const old = text.slice(span.start, span.end);
  return around.fitted(old, around.near(span.end), (near) => {
    const wanted = replacement.replaceAll("\r\n", "\n");
    const view = new LfView(old);
    const head = commonHead(view.text, wanted);
    const tail = commonTail(view.text, wanted, head);
    const start = view.original(head);
    const end = view.original(view.text.length - tail);
    const own = old.slice(start, end).match(/\r?\n/g) ?? old.slice(end).match(/\r?\n/) ?? [near];
    let n = 0;
    const changed = wanted
      .slice(head, wanted.length - tail)
      .replace(/\n/g, () => own[Math.min(n++, own.length - 1)] ?? near);
    return old.slice(0, start) + changed + old.slice(end);
  });
}

/** The line ends of a text, asked for in ascending order. */
class LineEnds {
  readonly #text: string;
  /** Whether there are any. */
  readonly any: boolean;
  readonly #final: number;
  #next: number;
  #last: { part: string; near: string; text: string } | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#next = text.indexOf("\n");
    this.#final = text.lastIndexOf("\n");
    this.any = this.#next >= 0;
  }

  /** The first line end after a place; where there is none, the last before it. */
  near(end: number): string {
    if (this.#next >= 0 && this.#next < end) this.#next = this.#text.indexOf("\n", end);
    const feed = this.#next >= 0 ? this.#next : this.#final;
    return this.#text[feed - 1] === "\r" ? "\r\n" : "\n";
  }

  /** What `make` gives for a part and the line end near it: made anew only where these are not those of the last part. */
  fitted(part: string, near: string, make: (near: string) => string): string {
    if (this.#last?.part !== part || this.#last.near !== near) this.#last = { part, near, text: make(near) };
    return this.#last.text;
  }
}

function commonHead(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let i = 0;
  while (i < most && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  return i;
}

function commonTail(a: string, b: string, head: number): number {
  const most = Math.min(a.length, b.length) - head;
  let i = 0;
  while (i < most && a.charCodeAt(a.length - 1 - i) === b.charCodeAt(b.length - 1 - i)) i++;
  return i;
}

/** The line numbers, from 1, of places in ascending order. */
export function lineNumbers(text: string, places: readonly number[]): number[] {
  const numbers: number[] = [];
  let line = 1;
  let at = 0;
  for (const place of places) {
    for (let feed = text.indexOf("\n", at); feed >= 0 && feed < place; feed = text.indexOf("\n", at)) {
      line++;
      at = feed + 1;
    }
    numbers.push(line);
  }
  return numbers;
}

/** Where the line begins before the one that begins at `start`; of the first line 0. */
export function lineBefore(text: string, start: number): number {
  return start < 2 ? 0 : text.lastIndexOf("\n", start - 2) + 1;
}
