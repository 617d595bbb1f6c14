import { quote } from "@shedkit/fs";
import type { HashlineErrorKind } from "./failure.js";
import { anchorOf, type HashedFile, shownLines } from "./file.js";
import { MAX_LETTERS, MIN_LETTERS } from "./hash.js";

/** What a model named a line by. */
interface Anchor {
  /** From 1. */
  line: number;
  hash: string;
}

/** Why an anchor names no line. */
export interface AnchorFault {
  kind: HashlineErrorKind;
  detail: string;
  text: string;
}

const SHAPE = new RegExp(`^(\\d{1,9}):([a-z2-7]{${MIN_LETTERS},${MAX_LETTERS}})(?:[→|-].*)?$`, "is");

/** Takes an anchor, also with the line after it, as it is shown. */
function parse(anchor: string): Anchor | undefined {
  const [, line, hash] = SHAPE.exec(anchor.trim()) ?? [];
  return line === undefined || hash === undefined ? undefined : { line: Number(line), hash: hash.toLowerCase() };
}

/** The place of the line, from 0, that an anchor names in a file as it is; or why there is none. */
export function resolve(anchor: string, file: HashedFile, letters: number): number | AnchorFault {
  const parsed = parse(anchor);
  if (!parsed) {
    const text = `${shown(anchor)} is no anchor. One is a line's number, a colon and its letters, as they were shown: 12:abc.`;
    return { kind: "InvalidInput", detail: shown(anchor), text };
  }
  const { line, hash } = parsed;
  if (file.hashes.is(line - 1, hash)) return line - 1;
  return lost(parsed, file, letters);
}

const MOST_SHOWN = 5;
const BESIDE = 2; // lines shown before and after the one in question

function lost({ line, hash }: Anchor, file: HashedFile, letters: number): AnchorFault {
  const name = `${line}:${hash}`;
  const elsewhere: number[] = [];
  for (let i = 0; i < file.hashes.length; i++) if (file.hashes.is(i, hash)) elsewhere.push(i);
  const count = file.lines.length;
  const there =
    line >= 1 && line <= count
      ? `Line ${line} of ${quote(file.path)} is not what ${name} names; it says something else now.`
      : `${quote(file.path)} has no line ${line}: it has ${count === 1 ? "1 line" : `${count} lines`}.`;
  const around = (index: number) => shownLines(file, index - BESIDE, index + BESIDE + 1, letters);
  const now = count === 0 ? "" : `\nWhat is there now:\n${around(Math.min(Math.max(line, 1), count) - 1)}`;
  const detail = `${name} in ${quote(file.path)}`;
  const [only] = elsewhere;
  if (only === undefined) {
    const kind = line >= 1 && line <= count ? "AnchorStale" : "AnchorNotFound";
    return { kind, detail, text: `${there} No other line has that hash.${now}` };
  }
  if (elsewhere.length === 1) {
    const moved = `The line has moved: it is ${anchorOf(file, only, letters)} now.`;
    return { kind: "AnchorStale", detail, text: `${there} ${moved}${now}\nAround the moved line:\n${around(only)}` };
  }
  const nearest = elsewhere.toSorted((a, b) => Math.abs(a + 1 - line) - Math.abs(b + 1 - line)).slice(0, MOST_SHOWN);
  const lines = nearest.map((i) => shownLines(file, i, i + 1, letters)).join("\n");
  const text = `${there} ${elsewhere.length} lines have that hash. The nearest:\n${lines}${now}`;
  return { kind: "AmbiguousAnchor", detail, text };
}

/** A model's text in quotes, not too long. */
function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
}

/** Whether new lines begin with the anchors that a file's lines have: they were copied from what was shown. */
export function hasAnchors(lines: readonly string[], file: HashedFile): boolean {
  const anchors = lines.filter((line) => line.trim() !== "").map(parseShown);
  return (
    anchors.length > 0 &&
    anchors.every((anchor) => anchor !== undefined && file.hashes.is(anchor.line - 1, anchor.hash))
  );
}

function parseShown(line: string): Anchor | undefined {
  return line.includes("→") ? parse(line) : undefined;
}
