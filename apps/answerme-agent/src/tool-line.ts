import type { ContentPart, JsonValue, ToolArguments } from "@shedkit/types";
import { textOfContent } from "@shedkit/types";
import { clipped, printable } from "./terminal.js";

/** A call on one line: `read(path: "config.ini")`. */
export function toolCallLine(name: string, args: ToolArguments | undefined, max: number): string {
  const shown = Object.entries(args ?? {}).map(([key, value]) => `${key}: ${valueText(value)}`);
  return clipped(printable(`${name}(${shown.join(", ")})`), max);
}

/** What a call came to, on one line: its error, or how much came back. */
export function toolResultLine(content: readonly ContentPart[], errorDetail: string | undefined, max: number): string {
  const text = textOfContent(content);
  if (errorDetail !== undefined) return clipped(printable(oneLine(text || errorDetail)), max);
  const lines = text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
  return lines === 1 ? clipped(printable(oneLine(text)), max) : `${lines} lines`;
}

function valueText(value: JsonValue): string {
  return typeof value === "string" ? JSON.stringify(value) : (JSON.stringify(value) ?? "");
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
