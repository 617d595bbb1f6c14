import type { ToolArguments } from "@shedkit/types";

/** A line of a change: kept, taken out, put in, or said about it. */
export interface DiffLine {
  sign: " " | "-" | "+" | "@";
  text: string;
}

const CONTEXT = 3;

/** What a call would change, where its arguments say so. */
export function changeOf(args: ToolArguments): DiffLine[] | undefined {
  const { path, old_string: before, new_string: after, content, edits, patch } = args;
  const head: DiffLine[] = typeof path === "string" ? [{ sign: "@", text: path }] : [];
  if (typeof before === "string" && typeof after === "string") return [...head, ...difference(before, after)];
  if (Array.isArray(edits)) {
    const all = edits.flatMap((edit) =>
      edit && typeof edit === "object" ? (changeOf(edit as ToolArguments) ?? []) : [],
    );
    return all.length > 0 ? [...head, ...all] : undefined;
  }
  if (typeof patch === "string") {
    return linesOf(patch).map((text) => {
      const sign = text[0] === "+" || text[0] === "-" || text[0] === "@" ? (text[0] as DiffLine["sign"]) : " ";
      return { sign, text: sign === "@" ? text : text.slice(1) };
    });
  }
  if (typeof path === "string" && typeof content === "string") {
    return [...head, ...linesOf(content).map((text) => ({ sign: "+" as const, text }))];
  }
  return undefined;
}

/** The lines that differ, with a little of what is around them. */
function difference(before: string, after: string): DiffLine[] {
  const a = linesOf(before);
  const b = linesOf(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const as = (sign: DiffLine["sign"], lines: readonly string[]) => lines.map((text) => ({ sign, text }));
  return [
    ...as(" ", a.slice(Math.max(0, start - CONTEXT), start)),
    ...as("-", a.slice(start, a.length - end)),
    ...as("+", b.slice(start, b.length - end)),
    ...as(" ", a.slice(a.length - end, a.length - end + CONTEXT)),
  ];
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
}
