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
