/** A place in a file, as the protocol has it: both from 0, `character` in UTF-16 units. */
export interface Place {
  line: number;
  character: number;
}

/** The lines of a text, as the protocol divides them. */
export function linesOf(text: string): string[] {
  return text.split(/\r\n|\n|\r/);
}

/**
 * Where `symbol` stands: in line `line` (from 1), else in the line nearest to it, else (without a line) where it stands
 * first. Whole words are preferred; of `a.b` the last part is meant. Undefined where it is nowhere.
 */
export function findSymbol(lines: readonly string[], symbol: string, line: number | undefined): Place | undefined {
  const from = line === undefined ? 0 : Math.min(Math.max(line - 1, 0), lines.length - 1);
  for (const whole of [true, false]) {
    for (let away = 0; away < lines.length; away++) {
      for (const at of away === 0 ? [from] : [from - away, from + away]) {
        const text = lines[at];
        const character = text === undefined ? -1 : indexIn(text, symbol, whole);
        if (character >= 0) return { line: at, character: character + lastPart(symbol) };
      }
    }
  }
  return undefined;
}

function indexIn(text: string, symbol: string, whole: boolean): number {
  let at = text.indexOf(symbol);
  while (whole && at >= 0 && !isWhole(text, at, at + symbol.length)) at = text.indexOf(symbol, at + 1);
  return at;
}

function isWhole(text: string, start: number, end: number): boolean {
  const joins = (outer: RegExpExecArray | null, inner: string | undefined): boolean =>
    outer !== null && inner !== undefined && WORD.test(inner);
  const before = /[\p{L}\p{N}\p{M}_$]$/u.exec(text.slice(Math.max(0, start - 2), start));
  const after = /^[\p{L}\p{N}\p{M}_$]/u.exec(text.slice(end, end + 2));
  return !joins(before, text[start]) && !joins(after, text[end - 1]);
}

const WORD = /[\p{L}\p{N}\p{M}_$\p{Surrogate}]/u;

/** How far into `a.b` or `a::b` its last name begins. */
function lastPart(symbol: string): number {
  return Math.max(0, ...["." as const, "::", "->", "#"].map((mark) => endOf(symbol, mark)));
}

function endOf(symbol: string, mark: string): number {
  const at = symbol.lastIndexOf(mark);
  return at <= 0 || at + mark.length === symbol.length ? 0 : at + mark.length;
}
