import type { Line } from "./lines.js";

/** Some lines in place of others. */
export interface Splice {
  /** How many lines stand before it. */
  start: number;
  /** How many lines go. */
  removed: number;
  added: readonly string[];
  /** Which of the call's edits it is, from 0. */
  edit: number;
}

/** Where a splice stands in the new text. */
export interface Placed {
  edit: number;
  /** Of the first line added, or of the line that follows what was removed; from 1. */
  line: number;
  removed: number;
  added: number;
}

/** In the order of the file. What is inserted before a line comes before what replaces it; else as they were given. */
export function inOrder(splices: readonly Splice[]): Splice[] {
  const insertsFirst = ({ removed }: Splice) => (removed === 0 ? 0 : 1);
  return splices.toSorted((a, b) => a.start - b.start || insertsFirst(a) - insertsFirst(b));
}

/** The first two that change the same lines; they are in order. */
export function overlapping(ordered: readonly Splice[]): [Splice, Splice] | undefined {
  let last: Splice | undefined;
  for (const splice of ordered) {
    if (last && splice.start < last.start + last.removed) return [last, splice];
    if (splice.removed > 0) last = splice;
  }
  return undefined;
}

/**
 * The lines after splices, which are in order and do not overlap. New lines end as those whose place they take, or as
 * the line before them; a text without a line end at its end has none afterwards.
 */
export function spliced(lines: readonly Line[], ordered: readonly Splice[]): { lines: Line[]; placed: Placed[] } {
  const usual = lines[Math.max(lines.length - 2, 0)]?.end || "\n"; // only the last line may have none
  const next: Line[] = [];
  const placed: Placed[] = [];
  let at = 0;
  for (const { start, removed, added, edit } of ordered) {
    for (; at < start; at++) next.push(lines[at] as Line);
    placed.push({ edit, line: next.length + 1, removed, added: added.length });
    for (const [i, text] of added.entries()) {
      const near = removed > 0 ? lines[start + Math.min(i, removed - 1)] : (lines[start - 1] ?? lines[start]);
      next.push({ text, end: near?.end || usual });
    }
    at += removed;
  }
  for (; at < lines.length; at++) next.push(lines[at] as Line);
  const last = lines.at(-1);
  if (last?.end === "") moveOpenEnd(next, last, usual);
  return { lines: next, placed };
}

/** The last line has no end, unless it is empty: it needs one to be a line. The one that was the last may have got others behind it. */
function moveOpenEnd(lines: Line[], last: Line, usual: Line["end"]): void {
  const place = lines.lastIndexOf(last);
  if (place >= 0) lines[place] = { ...last, end: usual };
  const now = lines.pop();
  if (now) lines.push({ ...now, end: now.text === "" ? now.end : "" });
}
