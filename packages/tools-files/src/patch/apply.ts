import { unescapeTag } from "@shedkit/tool";
import { plainText } from "../edit/confusables.js";
import { reindent } from "../edit/indentation.js";
import { enumerate } from "../text/format.js";
import { type Hunk, PatchError } from "./parse.js";

interface Line {
  /** Without its line end. */
  text: string;
  end: string;
}

/** What of a line counts. */
type Key = (text: string) => string;

const whole: Key = (text) => text;
const trimmed: Key = (text) => text.trim();

/** Lines are the same by what counts of them, from strict to lenient. */
const LEVELS: readonly Key[] = [whole, (text) => text.trimEnd(), trimmed, (text) => plainText(text.trim())];
const EXACT = 0;
const INDENTATION = 2;
/** Likewise where white space counts: two levels are left out. */
const SPACED: readonly Key[] = [whole, whole, whole, plainText];

/** The lines of a file, and what counts of each at a level. */
class FileLines {
  readonly lines: readonly Line[];
  readonly #keys = new Map<Key, string[]>();
  #times: Map<string, number> | undefined;

  constructor(text: string) {
    this.lines = linesOf(text);
  }

  keys(key: Key): readonly string[] {
    const known = this.#keys.get(key) ?? this.lines.map(({ text }) => key(text));
    this.#keys.set(key, known);
    return known;
  }

  /** How many lines have a text. */
  times(text: string): number {
    if (!this.#times) {
      this.#times = new Map();
      for (const line of this.lines) this.#times.set(line.text, (this.#times.get(line.text) ?? 0) + 1);
    }
    return this.#times.get(text) ?? 0;
  }
}

/**
 * The text with the hunks applied, one behind the other. Kept lines stay as they are in the file, whatever the patch has;
 * new lines get the line ends of those around them. A hunk that only nearly fits is applied if it fits one place;
 * so is one that fits exactly, unless it has a header: then the first place behind that is meant.
 * The `<` of `tag` may be `&lt;` in a hunk, as it is shown. Throws PatchError.
 */
export function applyHunks(text: string, hunks: readonly Hunk[], settings: HunkSettings): string {
  const file = new FileLines(text);
  const { lines } = file;
  const parts: Line[][] = [];
  let from = 0;
  for (const [i, given] of hunks.entries()) {
    const { hunk, at, level } = fitted(file, given, from, settings);
    const old = oldLines(hunk).length;
    const other = level === EXACT && hunk.headers.length === 0 ? nextPlace(file, hunk, at) : undefined;
    // It is none where the hunks that follow do not fit behind it.
    if (other !== undefined && fitBehind(file, hunks.slice(i + 1), other + old, settings)) {
      const found = placesOf(file.keys(whole), oldLines(hunk), from, lines.length);
      throw new PatchError(
        `Line ${hunk.line} of the patch: the hunk fits at lines ${enumerate(found.map((n) => n + 1))}. Put a line that ` +
          "comes before the place you mean after @@, or give more of the lines around it.",
      );
    }
    parts.push(lines.slice(from, at), replaced(lines.slice(at, at + old), hunk, level, endAround(lines, at)));
    from = at + old;
  }
  parts.push(lines.slice(from));
  return joined(parts.flat(), lines);
}

interface HunkSettings {
  indentation: boolean;
  tag?: string | undefined;
}

/** The lines of a hunk that stand in the file. */
function oldLines(hunk: Hunk): string[] {
  return hunk.lines.filter(({ kind }) => kind !== "+").map(({ text }) => text);
}

/** Where a hunk that fits at a place fits next, if anywhere. */
function nextPlace(file: FileLines, hunk: Hunk, at: number): number | undefined {
  const wanted = oldLines(hunk);
  if (wanted.length === 0 || wanted.some((text) => file.times(text) === 1)) return undefined;
  return placesOf(file.keys(whole), wanted, at + 1, 1)[0];
}

function fitBehind(file: FileLines, hunks: readonly Hunk[], from: number, settings: HunkSettings): boolean {
  try {
    let next = from;
    for (const given of hunks) {
      const { hunk, at } = fitted(file, given, next, settings);
      next = at + oldLines(hunk).length;
    }
    return true;
  } catch (error) {
    if (error instanceof PatchError) return false;
    throw error;
  }
}

/** Where a hunk stands: as it is; or else what it was copied from, where that is shown otherwise. */
function fitted(
  file: FileLines,
  hunk: Hunk,
  from: number,
  { indentation, tag }: HunkSettings,
): { hunk: Hunk; at: number; level: number } {
  try {
    let start = from;
    for (const header of hunk.headers) start = afterHeader(file, header, start, hunk);
    return { hunk, ...place(file, hunk, start, indentation ? LEVELS : SPACED) };
  } catch (error) {
    const real = (text: string) => (tag === undefined ? text : unescapeTag(text, tag));
    const copied = [...hunk.headers, ...hunk.lines.map(({ text }) => text)];
    if (copied.every((text) => real(text) === text)) throw error;
    const lines = hunk.lines.map(({ kind, text }) => ({ kind, text: real(text) }));
    return fitted(file, { ...hunk, headers: hunk.headers.map(real), lines }, from, { indentation });
  }
}

function afterHeader(file: FileLines, header: string, from: number, hunk: Hunk): number {
  const { lines } = file;
  for (const key of LEVELS) {
    const at = file.keys(key).indexOf(key(header), from);
    if (at >= 0) return at + 1;
  }
  // A header may be a part of a line, such as the name of a function.
  for (let i = from; i < lines.length; i++) if (lines[i]?.text.includes(header.trim())) return i + 1;
  throw new PatchError(`Line ${hunk.line} of the patch: the file has no line ${JSON.stringify(header)} there.`);
}

/** Where the kept and removed lines of a hunk stand, and how well they fit. */
function place(file: FileLines, hunk: Hunk, from: number, levels: readonly Key[]): { at: number; level: number } {
  const { lines } = file;
  const wanted = oldLines(hunk);
  if (wanted.length === 0) return { at: hunk.headers.length > 0 && !hunk.atEnd ? from : lines.length, level: EXACT };
  for (const [level, key] of levels.entries()) {
    const last = lines.length - wanted.length;
    const keys = wanted.map(key);
    if (hunk.atEnd && last >= from && placesOf(file.keys(key), keys, last, 1).length > 0) return { at: last, level };
    const found = placesOf(file.keys(key), keys, from, level === EXACT ? 1 : lines.length);
    const [at] = found;
    if (at === undefined) continue;
    if (found.length === 1) return { at, level };
    const numbers = enumerate(found.map((n) => n + 1));
    throw new PatchError(
      `Line ${hunk.line} of the patch: the hunk fits exactly nowhere, and nearly at lines ${numbers}. Copy the lines of ` +
        "the file exactly, or put a line that comes before them after @@.",
    );
  }
  const [spaced] = placesOf(file.keys(trimmed), wanted.map(trimmed), from, 1);
  const before = new Set(lines.slice(0, from).map(({ text }) => text));
  const elsewhere = wanted.some((text) => before.has(text));
  const first = JSON.stringify(wanted.find((text) => text.trim() !== "") ?? wanted[0]);
  throw new PatchError(
    `Line ${hunk.line} of the patch: the file does not have these lines, the first of which is ${first}` +
      `${from > 0 ? `, after line ${from}` : ""}.` +
      `${spaced === undefined ? "" : ` At line ${spaced + 1} they stand with other white space at the ends of lines.`}` +
      `${elsewhere ? " Hunks must be in the order of the file." : ""} ` +
      "Read the file and copy its lines exactly.",
  );
}

/** Where lines stand, from a place on: the first `most` such places. In time in proportion to both. */
function placesOf(lines: readonly string[], wanted: readonly string[], from: number, most: number): number[] {
  // How much of `wanted` is there already where its first lines, and then another one, were found.
  const back = [0];
  for (let i = 1, same = 0; i < wanted.length; i++) {
    while (same > 0 && wanted[i] !== wanted[same]) same = back[same - 1] ?? 0;
    if (wanted[i] === wanted[same]) same++;
    back.push(same);
  }
  const found: number[] = [];
  for (let at = from, same = 0; at < lines.length && found.length < most; at++) {
    while (same > 0 && lines[at] !== wanted[same]) same = back[same - 1] ?? 0;
    if (lines[at] === wanted[same]) same++;
    if (same < wanted.length) continue;
    found.push(at - same + 1);
    same = back[same - 1] ?? 0;
  }
  return found;
}

/** The lines of a hunk's place, changed. */
function replaced(there: readonly Line[], hunk: Hunk, level: number, end: string): Line[] {
  const added = hunk.lines.filter(({ kind }) => kind === "+").map(({ text }) => text);
  const old = oldLines(hunk);
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
