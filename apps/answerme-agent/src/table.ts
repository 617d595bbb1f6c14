import { stripVTControlCharacters } from "node:util";
import { columnsOf } from "./columns.js";

const RULE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

type Side = "left" | "right" | "center";

/** Whether lines that begin with `|` are a table: a head, a rule, rows. */
export function isTable(lines: readonly string[]): boolean {
  const [, rule = ""] = lines;
  return RULE.test(rule) && rule.includes("-");
}

/**
 * A table in columns; where these do not fit into `width`, each row is a list of its cells, with their heads. `styled`
 * renders the text of a cell, `bold` that of a head.
 */
export function tableText(
  lines: readonly string[],
  width: number,
  styled: (text: string) => string,
  bold: (text: string) => string,
): string {
  const [head = [], rule = [], ...rows] = lines.map(cellsOf);
  const sides = rule.map(sideOf);
  const heads = head.map((cell) => bold(styled(cell)));
  const body = rows.map((row) => head.map((_, i) => styled(row[i] ?? "")));
  const widths = head.map((_, i) => Math.max(...[heads, ...body].map((row) => shownColumns(row[i] ?? ""))));
  const total = widths.reduce((sum, one) => sum + one, 0) + 3 * (widths.length - 1);
  if (total > width) return listed(heads, body);
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => padded(cell, widths[i] ?? 0, sides[i] ?? "left"))
      .join(" \u2502 ")
      .trimEnd();
  return [line(heads), widths.map((one) => "\u2500".repeat(one)).join("\u2500\u253c\u2500"), ...body.map(line)]
    .map((text) => `${text}\n`)
    .join("");
}

function listed(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.map((cell, i) => `${heads[i] ?? ""}: ${cell}\n`).join("")).join("\n");
}

function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function sideOf(cell: string): Side {
  if (!cell.endsWith(":")) return "left";
  return cell.startsWith(":") ? "center" : "right";
}

function padded(cell: string, width: number, side: Side): string {
  const room = width - shownColumns(cell);
  const before = side === "left" ? 0 : side === "right" ? room : Math.floor(room / 2);
  return " ".repeat(before) + cell + " ".repeat(room - before);
}

function shownColumns(text: string): number {
  return columnsOf(stripVTControlCharacters(text));
}
