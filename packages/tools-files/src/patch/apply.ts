import { findLookalikes } from "../edit/confusables.js";
import { reindent } from "../edit/indentation.js";
import { enumerate } from "../text/format.js";
import { type Hunk, PatchError } from "./parse.js";

interface Line {
  /** Without its line end. */
  text: string;
  end: string;
}

type Same = (a: string, b: string) => boolean;

/** How two lines are compared, from strict to lenient. */
const LEVELS: readonly Same[] = [
  (a, b) => a === b,
  (a, b) => a.trimEnd() === b.trimEnd(),
  (a, b) => a.trim() === b.trim(),
  (a, b) => alike(a.trim(), b.trim()),
];
const EXACT = 0;
const INDENTATION = 2;
/** Likewise where white space counts: at the levels at which it does not, nothing is the same. */
const SPACED: readonly Same[] = [(a, b) => a === b, () => false, () => false, alike];

/**
 * The text with the hunks applied, one behind the other. Kept lines stay as they are in the file, whatever the patch has;
 * new lines get the line ends of those around them. A hunk that only nearly fits is applied if it fits one place.
 * Throws PatchError.
 */
export function applyHunks(text: string, hunks: readonly Hunk[], settings: { indentation: boolean }): string {
  const lines = linesOf(text);
  const result: Line[] = [];
  let from = 0;
  for (const hunk of hunks) {
    let start = from;
    for (const header of hunk.headers) start = afterHeader(lines, header, start, hunk);
    const { at, level } = place(lines, hunk, start, settings.indentation ? LEVELS : SPACED);
    const old = hunk.lines.filter(({ kind }) => kind !== "+").length;
    result.push(...lines.slice(from, at), ...replaced(lines.slice(at, at + old), hunk, level, endAround(lines, at)));
    from = at + old;
  }
  result.push(...lines.slice(from));
  return joined(result, lines);
}

function afterHeader(lines: readonly Line[], header: string, from: number, hunk: Hunk): number {
  for (const same of LEVELS) {
    for (let i = from; i < lines.length; i++) if (same(lines[i]?.text ?? "", header)) return i + 1;
  }
  // A header may be a part of a line, such as the name of a function.
  for (let i = from; i < lines.length; i++) if (lines[i]?.text.includes(header.trim())) return i + 1;
  throw new PatchError(`Line ${hunk.line} of the patch: the file has no line ${JSON.stringify(header)} there.`);
}

/** Where the kept and removed lines of a hunk stand, and how well they fit. */
function place(
  lines: readonly Line[],
  hunk: Hunk,
  from: number,
  levels: readonly Same[],
): { at: number; level: number } {
  const wanted = hunk.lines.filter(({ kind }) => kind !== "+").map(({ text }) => text);
  if (wanted.length === 0) return { at: hunk.headers.length > 0 && !hunk.atEnd ? from : lines.length, level: EXACT };
  for (const [level, same] of levels.entries()) {
    const last = lines.length - wanted.length;
    if (hunk.atEnd && last >= from && fits(lines, wanted, last, same)) return { at: last, level };
    const found = placesOf(lines, wanted, from, same, level === EXACT ? 1 : lines.length);
    const [at] = found;
    if (at === undefined) continue;
    if (found.length === 1) return { at, level };
    const numbers = enumerate(found.map((n) => n + 1));
    throw new PatchError(
      `Line ${hunk.line} of the patch: the hunk fits exactly nowhere, and nearly at lines ${numbers}. Copy the lines of ` +
        "the file exactly, or put a line that comes before them after @@.",
    );
  }
  const [spaced] = placesOf(lines, wanted, from, LEVELS[INDENTATION] ?? alike, 1);
  const elsewhere = from > 0 && wanted.some((text) => lines.slice(0, from).some((line) => line.text === text));
  const first = JSON.stringify(wanted.find((text) => text.trim() !== "") ?? wanted[0]);
  throw new PatchError(
    `Line ${hunk.line} of the patch: the file does not have these lines, the first of which is ${first}` +
      `${from > 0 ? `, after line ${from}` : ""}.` +
      `${spaced === undefined ? "" : ` At line ${spaced + 1} they stand with other white space at the ends of lines.`}` +
      `${elsewhere ? " Hunks must be in the order of the file." : ""} ` +
      "Read the file and copy its lines exactly.",
  );
}

function fits(lines: readonly Line[], wanted: readonly string[], at: number, same: Same): boolean {
  return wanted.every((text, i) => same(lines[at + i]?.text ?? "\0", text));
}

/** Where lines stand, from a place on: the first `most` such places. */
function placesOf(lines: readonly Line[], wanted: readonly string[], from: number, same: Same, most: number): number[] {
  const found: number[] = [];
  for (let at = from; at <= lines.length - wanted.length && found.length < most; at++) {
    if (fits(lines, wanted, at, same)) found.push(at);
  }
  return found;
}

/** The lines of a hunk's place, changed. */
function replaced(there: readonly Line[], hunk: Hunk, level: number, end: string): Line[] {
  const added = hunk.lines.filter(({ kind }) => kind === "+").map(({ text }) => text);
  const old = hunk.lines.filter(({ kind }) => kind !== "+").map(({ text }) => text);
  const texts = level >= INDENTATION ? reindented(old, there, added) : added;
  const result: Line[] = [];
  let [at, next] = [0, 0];
  for (const { kind } of hunk.lines) {
    if (kind === "+")
      result.push({ text: texts[next++] ?? "", end: there[Math.min(at, there.length - 1)]?.end || end });
    else {
      const line = there[at++];
      if (kind === " " && line) result.push(line);
    }
  }
  return result;
}

function reindented(old: readonly string[], there: readonly Line[], added: readonly string[]): readonly string[] {
  const lines = there.map(({ text }) => text);
  return reindent(old.join("\n"), lines, added.join("\n"))?.split("\n") ?? added;
}

function linesOf(text: string): Line[] {
  return (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((raw) => {
    const end = /\r?\n$/.exec(raw)?.[0] ?? "";
    return { text: raw.slice(0, raw.length - end.length), end };
  });
}

/** The line end that new lines at a place take. */
function endAround(lines: readonly Line[], at: number): string {
  return lines[at]?.end || lines[at - 1]?.end || lines.find(({ end }) => end !== "")?.end || "\n";
}

/** Only the last line may lack a line end, and does if the last of the file did. */
function joined(result: readonly Line[], before: readonly Line[]): string {
  const open = before.length > 0 && before.at(-1)?.end === "";
  return result
    .map(({ text, end }, i) => {
      const last = i === result.length - 1;
      if (last && open) return text;
      return text + (end === "" ? endAround(before, 0) : end);
    })
    .join("");
}

function alike(a: string, b: string): boolean {
  if (a === b) return true;
  if (a === "" || b === "") return false;
  const [only] = findLookalikes(a, b);
  return only?.start === 0 && only.end === a.length;
}
