import type { JsonValue, ToolArguments } from "@shedkit/types";
import type { TextEvent } from "./family.js";

export type CallEvent = Extract<TextEvent, { type: "call" }>;

const LONG_INTEGER = /(?<![.\d])\d{16}/; // not the digits of a fraction

/** The arguments that a JSON text holds: an object, an object written as a string, or the text as it is. */
export function readArguments(raw: string): Pick<CallEvent, "arguments" | "rawArguments"> {
  const value = parsedJson(raw);
  if (value === null) return { arguments: {} };
  const text = typeof value === "string" ? value : raw;
  const object = typeof value === "string" ? parsedJson(value) : value;
  if (typeof value === "string" && value.trim() === "") return { arguments: {} };
  if (typeof object !== "object" || object === null || Array.isArray(object) || LONG_INTEGER.test(text)) {
    return { rawArguments: text };
  }
  return { arguments: object as ToolArguments };
}

/** A call that was not shown while it came. */
export function announced(call: CallEvent): TextEvent[] {
  const json = call.rawArguments ?? JSON.stringify(call.arguments ?? {});
  return [{ type: "callStart", name: call.name }, { type: "callDelta", json }, call];
}

/** Undefined where the text is not JSON. */
export function parsedJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** What can be read of arguments that are no whole object: of one that broke off the values before that place. */
export function beginningOf(raw: string): ToolArguments {
  const open: string[] = []; // what closes the lists and objects
  let inString = false;
  let whole = ""; // up to a place where everything that is open could be closed
  for (let i = 0; i < raw.length; i++) {
    const char = raw.charAt(i);
    if (inString) {
      if (char === "\\") i++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{" || char === "[") {
      open.push(char === "{" ? "}" : "]");
      if (open.length === 1) whole = char + (open[0] ?? "");
    } else if (char === "}" || char === "]") open.pop();
    else if (char === "," && open.length === 1) whole = raw.slice(0, i) + (open[0] ?? "");
  }
  const value = parsedJson(whole);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as ToolArguments) : {};
}
