/** One file's part of a patch. */
export type PatchSection =
  | { type: "add"; path: string; line: number; content: string }
  | { type: "delete"; path: string; line: number }
  | { type: "update"; path: string; line: number; moveTo?: string | undefined; hunks: Hunk[] };

/** Lines to be found one after the other, and what becomes of them. */
export interface Hunk {
  /** Line number in the patch, from 1. */
  line: number;
  /** Lines, each to be found after the one before, behind which the hunk stands. */
  headers: string[];
  lines: { kind: " " | "-" | "+"; text: string }[];
  /** The hunk stands at the end of the file. */
  atEnd: boolean;
}

/** What is wrong with a patch, with the line. */
export class PatchError extends Error {}

const BEGIN = "*** Begin Patch";
const END = "*** End Patch";
const END_OF_FILE = "*** End of File";

/**
 * Reads a patch: `*** Begin Patch`, then for each file `*** Add File: path` with `+` lines, `*** Delete File: path`, or
 * `*** Update File: path` (and `*** Move to: path`) with hunks, then `*** End Patch`. A hunk begins with `@@`, after which
 * a line may stand that comes before it in the file; its lines begin with a space (kept), `-` or `+`.
 * A here-document or a code fence around it is taken off. Throws PatchError.
 */
export function parsePatch(text: string): PatchSection[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const begin = lines.findIndex((line) => line.trim() === BEGIN);
  if (begin < 0) throw new PatchError(`The patch must begin with the line "${BEGIN}".`);
  const reader = new Reader(lines, begin + 1);
  const sections: PatchSection[] = [];
  for (let section = reader.section(); section; section = reader.section()) sections.push(section);
  if (sections.length === 0) throw new PatchError("The patch is empty: it names no file.");
  return sections;
}

class Reader {
  readonly #lines: readonly string[];
  #at: number;

  constructor(lines: readonly string[], at: number) {
    this.#lines = lines;
    this.#at = at;
  }

  /** The next file's part; undefined at the end. An end that is missing is no reason to fail. */
  section(): PatchSection | undefined {
    while (this.#line?.trim() === "") this.#at++;
    const head = this.#line;
    if (head === undefined || head.trim() === END) return undefined;
    const [, what, path = ""] = /^\*\*\* (Add|Delete|Update) File: *(.*)$/.exec(head.trim()) ?? [];
    if (what === undefined) {
      throw this.#error(
        `expected "*** Add File: path", "*** Update File: path" or "*** Delete File: path", found`,
        head,
      );
    }
    if (path === "") throw this.#error("the path is missing in", head);
    const line = ++this.#at;
    if (what === "Delete") return { type: "delete", path, line };
    if (what === "Add") return { type: "add", path, line, content: this.#added() };
    const moveTo = /^\*\*\* Move to: *(.+)$/.exec((this.#line ?? "").trim())?.[1];
    if (moveTo !== undefined) this.#at++;
    const hunks: Hunk[] = [];
    while (!this.#ended) hunks.push(...this.#hunk());
    if (hunks.length === 0 && moveTo === undefined) {
      throw new PatchError(`Line ${line} of the patch: the update of ${JSON.stringify(path)} has no hunk.`);
    }
    return { type: "update", path, line, moveTo, hunks };
  }

  get #line(): string | undefined {
    return this.#lines[this.#at];
  }

  /** At the end of a file's part. */
  get #ended(): boolean {
    // A kept line with such a text has a space before it.
    return this.#line === undefined || /^\*\*\* (?:Add File|Delete File|Update File|End Patch)/.test(this.#line);
  }

  #error(what: string, line: string): PatchError {
    return new PatchError(`Line ${this.#at + 1} of the patch: ${what} ${JSON.stringify(line)}.`);
  }

  #added(): string {
    let content = "";
    for (; !this.#ended; this.#at++) {
      const line = this.#line ?? "";
      if (line.startsWith("+")) content += `${line.slice(1)}\n`;
      else if (line.trim() !== "") throw this.#error(`every line of a new file begins with "+", found`, line);
    }
    return content;
  }

  /** One hunk, or none where only empty lines were left. */
  #hunk(): Hunk[] {
    const first = this.#at + 1;
    const headers: string[] = [];
    for (; this.#line?.startsWith("@@"); this.#at++) {
      // Also the header of a unified diff, whose numbers are not needed.
      const header = this.#line.replace(/^@@(?: -[\d,]+ \+[\d,]+ @@)? ?/, "").replace(/ @@$/, "");
      if (header.trim() !== "") headers.push(header);
    }
    const lines: (Hunk["lines"][number] & { bare?: boolean })[] = [];
    let atEnd = false;
    for (; !atEnd && !this.#ended && !this.#line?.startsWith("@@"); this.#at++) {
      const line = this.#line ?? "";
      const kind = line.charAt(0);
      if (line.trimEnd() === END_OF_FILE) atEnd = true;
      else if (kind === " " || kind === "-" || kind === "+") lines.push({ kind, text: line.slice(1) });
      // The space before an empty kept line is often lost.
      else if (line === "") lines.push({ kind: " ", text: "", bare: true });
      else throw this.#error(`a line of a hunk begins with a space, "-" or "+", found`, line);
    }
    // Empty lines at the end part the patch; they are not of the file.
    while (lines.at(-1)?.bare) lines.pop();
    if (lines.length === 0 && headers.length === 0) return [];
    if (lines.every(({ kind }) => kind === " ")) {
      throw new PatchError(`Line ${first} of the patch: the hunk changes nothing; it needs lines with "-" or "+".`);
    }
    return [{ line: first, headers, lines, atEnd }];
  }
}
