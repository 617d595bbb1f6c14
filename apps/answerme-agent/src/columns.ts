const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
/** What every terminal shows in one column. */
const PLAIN = /^[\x20-\x7e]*$/;
/** East Asian wide characters, and pictures. */
const WIDE = new RegExp(
  "\\p{Emoji_Presentation}|\\ufe0f|[\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\u33ff\\u3400-\\u4dbf\\u4e00-\\u9fff" +
    "\\ua000-\\ua4cf\\ua960-\\ua97f\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6" +
    "\\u{20000}-\\u{3fffd}]",
  "u",
);
const NO_WIDTH = /^[\p{M}\p{Cf}\p{Cc}]*$/u;

/** What is one character to a reader, one after the other. */
export function graphemesOf(text: string): Iterable<string> {
  if (PLAIN.test(text)) return text;
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}

/** How many columns a text takes in a terminal; it has no control characters. */
export function columnsOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of graphemes.segment(text)) columns += columnsOfGrapheme(segment);
  return columns;
}

export function columnsOfGrapheme(grapheme: string): number {
  if (PLAIN.test(grapheme)) return grapheme.length;
  return NO_WIDTH.test(grapheme) ? 0 : WIDE.test(grapheme) ? 2 : 1;
}

/** At most `max` columns, with a mark where something was left out. */
export function clipped(text: string, max: number): string {
  if (text.length <= max && columnsOf(text) <= max) return text;
  const mark = max > 3 ? "..." : "";
  const room = max - mark.length;
  let kept = "";
  let columns = 0;
  for (const grapheme of graphemesOf(text.slice(0, 20 * Math.max(1, max)))) {
    columns += columnsOfGrapheme(grapheme);
    if (columns > room) break;
    kept += grapheme;
  }
  return kept + mark;
}

/** The rows that a text takes where a row has `max` columns. */
export function rowsOf(text: string, max: number): string[] {
  const rows: string[] = [];
  let row = "";
  let columns = 0;
  for (const grapheme of graphemesOf(text)) {
    const wide = columnsOfGrapheme(grapheme);
    if (columns + wide > max && row !== "") {
      rows.push(row);
      row = "";
      columns = 0;
    }
    row += grapheme;
    columns += wide;
  }
  return [...rows, row];
}
