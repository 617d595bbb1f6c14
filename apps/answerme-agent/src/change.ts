import type { JsonValue, ToolArguments } from "@shedkit/types";

/** A line of a change as it is shown: kept, taken out, put in, or said about it. */
export interface ChangeLine {
  sign: " " | "-" | "+" | "@";
  text: string;
}

/** More lines than this are counted, not shown. */
const SHOWN = 40;
const CONTEXT = 2;

/** What a call would change, for a person to judge; `before` is the file that it writes anew. */
export function changeLines(tool: string, args: ToolArguments, before?: string): ChangeLine[] {
  const { path, from, to, content, edits, patch, command } = args;
  const head = (what: unknown): ChangeLine => ({
    sign: "@",
    text: typeof what === "string" ? `${tool} ${what}` : tool,
  });
  const replaced = replacement(args);
  if (replaced !== undefined) return [head(path), ...cut(replaced)];
  if (Array.isArray(edits)) {
    const lines = edits.flatMap((edit) => {
      const { path: file, ...rest } = edit as { [name: string]: JsonValue };
      return [head(file), ...(replacement(rest) ?? [])];
    });
    return cut(lines);
  }
  if (typeof content === "string") return [head(path), ...cut(difference(before ?? "", content))];
  if (typeof patch === "string") return [head(undefined), ...cut(linesOf(patch).map(patchLine))];
  if (typeof command === "string" && tool === "bash") return [head(undefined), ...linesOf(command).map(kept)];
  if (typeof from === "string" && typeof to === "string") return [head(`${from} to ${to}`)];
  if (typeof path === "string" && Object.keys(args).length === 1) return [head(path)];
  return [head(undefined), ...cut(Object.entries(args).flatMap(argumentLines))];
}

/** An argument with its name; the lines of a longer text below it. */
function argumentLines([name, value]: [string, JsonValue]): ChangeLine[] {
  const [first = "", ...more] = linesOf(typeof value === "string" ? value : JSON.stringify(value));
  return [kept(`${name}: ${first}`), ...more.map((line) => kept(`  ${line}`))];
}

function replacement({ old_string: before, new_string: after }: ToolArguments): ChangeLine[] | undefined {
  return typeof before === "string" && typeof after === "string" ? difference(before, after) : undefined;
}

function patchLine(line: string): ChangeLine {
  const [first = ""] = line;
  if (first === "+" || first === "-" || first === " ") return { sign: first, text: line.slice(1) };
  return { sign: "@", text: line };
}

function kept(text: string): ChangeLine {
  return { sign: " ", text };
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
