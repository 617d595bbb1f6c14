import { quote } from "@shedkit/fs";
import type { ToolContext } from "@shedkit/tool";
import { by, plural } from "@shedkit/tools-files/internals";
import { hashed, shownLines } from "./file.js";
import type { Line } from "./lines.js";
import type { Placed, Splice } from "./splice.js";

const LARGE = 5; // lines that one edit replaces: more are worth a word
const VERY_LARGE = 20;

/** What edits did that a model may not have meant. */
export function warningsOf(splices: readonly Splice[], ctx: ToolContext): string[] {
  return splices.flatMap(({ start, removed, edit }) => {
    if (removed <= LARGE) return [];
    const range = `Edit ${edit + 1} replaced ${removed} lines (${start + 1} to ${start + removed}).`;
    if (removed <= VERY_LARGE) return [`${range} Make sure that all of them were to go.`];
    return [
      `${range} That is a large part: make sure${by("read", ctx)} that nothing is lost, and prefer several small edits.`,
    ];
  });
}

const BESIDE = 2; // lines shown before and after each change
const MOST_SHOWN = 60;
const MOST_TOLD = 10; // edits

/** What the model reads of a change: what was done, and the anchors around it as they are now. */
export function summaryOf(
  path: string,
  lines: readonly Line[],
  placed: readonly Placed[],
  warnings: readonly string[],
  letters: number,
): string {
  const told = placed.slice(0, MOST_TOLD).map(({ line, removed, added }) => `line ${line}: ${counts(removed, added)}`);
  if (placed.length > MOST_TOLD) told.push(`and ${placed.length - MOST_TOLD} more`);
  const done = told.join("; ");
  const until = placed.reduce((most, { line, added }) => Math.max(most, line - 1 + added + BESIDE), 0);
  const file = hashed(path, lines, Math.min(until, lines.length));
  const shown: string[] = [];
  let at = 0;
  let left = MOST_SHOWN;
  for (const { line, added } of placed) {
    const first = Math.max(line - 1 - BESIDE, at, 0);
    const end = Math.min(line - 1 + added + BESIDE, file.lines.length, first + left);
    if (end <= first) continue;
    const gap = shown.length > 0 && first > at ? ["--"] : [];
    shown.push(...gap, shownLines(file, first, end, letters));
    left -= end - first;
    at = end;
  }
  const head = `Edited ${quote(file.path)}, ${plural(placed.length, "edit")}: ${done}. It has ${plural(file.lines.length, "line")} now.`;
  const notes = warnings.length === 0 ? [] : [`[${warnings.join(" ")}]`];
  const rest = left <= 0 ? ["[Anchors of further lines are not shown: read them.]"] : [];
  const anchors = shown.length === 0 ? [] : ["The anchors there now:", ...shown];
  return [head, ...notes, ...anchors, ...rest].join("\n");
}

function counts(removed: number, added: number): string {
  if (removed === 0) return `${added} inserted`;
  return added === 0 ? `${removed} deleted` : `${removed} replaced by ${added}`;
}
