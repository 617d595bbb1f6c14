import { withoutData } from "@shedkit/tools-files/internals";
import { LineHashes } from "./hash.js";
import { type Line, linesOf, shownText } from "./lines.js";

/** The lines of a text file, with the hashes of what is shown of them. */
export interface HashedFile {
  /** For messages. */
  path: string;
  lines: readonly Line[];
  hashes: LineHashes;
}

/** The lines before `until` have hashes. */
export function hashed(path: string, lines: readonly Line[], until: number): HashedFile {
  return { path, lines, hashes: new LineHashes(lines.slice(0, until).map(({ text }) => shownText(text))) };
}

export function hashedText(path: string, text: string): HashedFile {
  const lines = linesOf(text);
  return hashed(path, lines, lines.length);
}

/** What names a line: `12:abc`. */
export function anchorOf({ hashes }: HashedFile, index: number, letters: number): string {
  return `${index + 1}:${hashes.of(index, letters)}`;
}

/** Stands between an anchor and the line. */
const SIGN = "→";

/** A line with its anchor: `12:abc→text`. */
export function shownLine(file: HashedFile, index: number, letters: number, most = Number.POSITIVE_INFINITY): string {
  const { text } = withoutData(shownText(file.lines[index]?.text ?? ""));
  const cut = text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}...` : text;
  return `${anchorOf(file, index, letters)}${SIGN}${cut}`;
}

const MOST_WIDE = 200; // characters of a line that is only shown beside others

/** Some lines, from `first` (from 0) to before `end`, as far as there are any. */
export function shownLines(file: HashedFile, first: number, end: number, letters: number): string {
  const shown: string[] = [];
  for (let i = Math.max(first, 0); i < Math.min(end, file.lines.length); i++)
    shown.push(shownLine(file, i, letters, MOST_WIDE));
  return shown.join("\n");
}
