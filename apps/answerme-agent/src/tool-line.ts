import type { ContentPart, JsonValue, ToolArguments } from "@shedkit/types";
import { textOfContent } from "@shedkit/types";
import { clipped } from "./columns.js";
import { printable } from "./terminal.js";

/** Room for the other arguments. In columns. */
const LONGEST_VALUE = 120;

/** A call on one line: `read(path: "config.ini")`. */
export function toolCallLine(name: string, args: ToolArguments | undefined, max: number): string {
  const shown = Object.entries(args ?? {}).map(([key, value]) => `${key}: ${valueText(value)}`);
  return clipped(printable(`${name}(${shown.join(", ")})`), max);
}

/** What a call came to, on one line: its error, or how much came back. */
export function toolResultLine(content: readonly ContentPart[], errorDetail: string | undefined, max: number): string {
  const text = textOfContent(content);
  if (errorDetail !== undefined) return clipped(printable(oneLine(text || errorDetail)), max);
  if (text.trim() === "") return "nothing";
  const lines = text.trim().split("\n").length;
  return lines === 1 ? clipped(printable(oneLine(text)), max) : `${lines} lines`;
}

function valueText(value: JsonValue): string {
  return clipped(JSON.stringify(value) ?? "", LONGEST_VALUE);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
