import { lineBefore, type Span } from "./replace.js";

/** Lines of a file that are those of a text but for white space at their ends. */
export interface IndentedMatch extends Span {
  /** The lines, as they stand in the file. */
  lines: string[];
}

export const MOST_MATCHES = 11; // one more than is ever told of
export const MOST_PROBES = 10_000; // a line of a huge file may hold the text sought again and again

/**
 * Where whole lines of `text` are those of `old` if white space at the ends of lines does not count. Both have LF line
 * ends. Nothing for a text without a word.
 */
export function findIndented(text: string, old: string): IndentedMatch[] {
  const wanted = old.split("\n");
  const open = wanted.length > 1 && wanted.at(-1) === "";
  if (open) wanted.pop();
  const trimmed = wanted.map((line) => line.trim());
  const anchor = trimmed.findIndex((line) => line !== "");
  const word = trimmed[anchor];
  if (word === undefined) return [];
  const matches: IndentedMatch[] = [];
  let at = text.indexOf(word);
  for (let probes = 0; at >= 0 && probes < MOST_PROBES && matches.length < MOST_MATCHES; probes++) {
    const start = text.lastIndexOf("\n", at) + 1;
    const match = matchAt(text, start, trimmed, anchor);
    if (match) matches.push(open && text[match.end] === "\n" ? { ...match, end: match.end + 1 } : match);
    const next = match ? match.end : lineEnd(text, at);
    at = text.indexOf(word, Math.max(next, at + 1));
  }
  return matches;
}

function matchAt(
  text: string,
  lineStart: number,
  wanted: readonly string[],
  anchor: number,
): IndentedMatch | undefined {
  let start = lineStart;
  for (let i = 0; i < anchor; i++) {
    if (start === 0) return undefined;
    start = lineBefore(text, start);
  }
  const lines: string[] = [];
  let from = start;
  for (const [i, line] of wanted.entries()) {
    if (from > text.length) return undefined;
    const end = lineEnd(text, from);
    const found = text.slice(from, end);
    if (found.trim() !== line) return undefined;
    lines.push(found);
    if (i === wanted.length - 1) return { start, end, lines };
    from = end + 1;
  }
  return undefined;
}

function lineEnd(text: string, from: number): number {
  const feed = text.indexOf("\n", from);
  return feed < 0 ? text.length : feed;
}

/**
 * `replacement` indented as the file is: each line by what became of its indentation from `old` to the file's lines.
 * Undefined where that is not clear, as when one indentation of `old` stands for two of the file.
 */
export function reindent(old: string, lines: readonly string[], replacement: string): string | undefined {
  const known = new Map<string, string>();
  for (const [i, line] of old.split("\n").slice(0, lines.length).entries()) {
    if (line.trim() === "") continue;
    const [from, to] = [indentOf(line), indentOf(lines[i] ?? "")];
    if ((known.get(from) ?? to) !== to) return undefined;
    known.set(from, to);
  }
  const step = stepOf(known);
  return replacement
    .split("\n")
    .map((line) =>
      line.trim() === "" ? line : become(indentOf(line), known, step) + line.slice(indentOf(line).length),
    )
    .join("\n");
}

/** What one more level of indentation is before and after, where two known ones tell. */
function stepOf(known: ReadonlyMap<string, string>): { from: string; to: string } | undefined {
  const sorted = [...known].sort(([a], [b]) => a.length - b.length);
  for (let i = 1; i < sorted.length; i++) {
    const [[from, to], [deeper, become]] = [sorted[i - 1] ?? ["", ""], sorted[i] ?? ["", ""]];
    if (deeper.startsWith(from) && become.startsWith(to) && become.length > to.length) {
      return { from: deeper.slice(from.length), to: become.slice(to.length) };
    }
  }
  // One level only, e.g. four spaces for a tab.
  const [from, to] = sorted.find(([a, b]) => a !== "" && b !== "") ?? ["", ""];
  return from === "" ? undefined : { from, to };
}

function become(
  indent: string,
  known: ReadonlyMap<string, string>,
  step: { from: string; to: string } | undefined,
): string {
  const direct = known.get(indent);
  if (direct !== undefined) return direct;
  // The longest known indentation that this one begins with, and what is more, level by level.
  const base = [...known.keys()].filter((from) => indent.startsWith(from)).sort((a, b) => b.length - a.length)[0];
  if (base === undefined) {
    // Less than any known one: as much less as it was.
    const [from, to] = [...known].sort(([a], [b]) => a.length - b.length)[0] ?? ["", ""];
    const less = from.length - indent.length;
    return less >= 0 && less <= to.length && from.startsWith(indent) ? to.slice(0, to.length - less) : indent;
  }
  let rest = indent.slice(base.length);
  let more = "";
  while (step && rest.startsWith(step.from) && step.from !== "") {
    more += step.to;
    rest = rest.slice(step.from.length);
  }
  return (known.get(base) ?? "") + more + rest;
}

function indentOf(line: string): string {
  return /^[\t ]*/.exec(line)?.[0] ?? "";
}
