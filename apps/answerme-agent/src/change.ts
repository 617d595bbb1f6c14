import type { ToolArguments } from "@shedkit/types";

/** A line of a change as it is shown: kept, taken out, put in, or said about it. */
export interface ChangeLine {
  sign: " " | "-" | "+" | "@";
  text: string;
}

/** More lines than this are counted, not shown. */
const SHOWN = 40;
const CONTEXT = 2;

/** What a call would change, for a person to judge. */
export function changeLines(tool: string, args: ToolArguments): ChangeLine[] {
  const { path, old_string: before, new_string: after, content } = args;
  const head: ChangeLine = { sign: "@", text: typeof path === "string" ? `${tool} ${path}` : tool };
  if (typeof before === "string" && typeof after === "string") return [head, ...cut(difference(before, after))];
  if (typeof content === "string") return [head, ...cut(linesOf(content).map((text) => ({ sign: "+", text })))];
  return [{ sign: "@", text: `${tool} ${JSON.stringify(args)}` }];
}

/** The lines that differ, with a little of what is around them. */
export function difference(before: string, after: string): ChangeLine[] {
  const a = linesOf(before);
  const b = linesOf(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const as = (sign: ChangeLine["sign"], lines: readonly string[]) => lines.map((text) => ({ sign, text }));
  return [
    ...as(" ", a.slice(Math.max(0, start - CONTEXT), start)),
    ...as("-", a.slice(start, a.length - end)),
    ...as("+", b.slice(start, b.length - end)),
    ...as(" ", a.slice(a.length - end, a.length - end + CONTEXT)),
  ];
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  return text.replace(/\r?\n$/, "").split(/\r?\n/);
}

function cut(lines: ChangeLine[]): ChangeLine[] {
  if (lines.length <= SHOWN) return lines;
  return [...lines.slice(0, SHOWN), { sign: "@", text: `... and ${lines.length - SHOWN} lines more` }];
}
