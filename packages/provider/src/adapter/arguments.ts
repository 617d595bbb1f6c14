import type { JsonValue, ToolArguments, ToolCallOutput } from "@shedkit/types";

/** A call's arguments from the text that came: an object, or the text where it is none. No text is no arguments. */
export function readCallArguments(text: string): Pick<ToolCallOutput, "arguments" | "rawArguments"> {
  if (text.trim() === "") return { arguments: {} };
  try {
    const value = JSON.parse(text) as JsonValue;
    if (typeof value === "object" && value !== null && !Array.isArray(value) && !losesDigits(text)) {
      return { arguments: value as ToolArguments };
    }
  } catch {
    // not JSON: what came is handed on, and the tool says what is wrong with it
  }
  return { rawArguments: text };
}

/** A past call's arguments as an object, for wires that take nothing else. */
export function argumentsObject(call: ToolCallOutput): ToolArguments {
  if (call.arguments !== undefined) return call.arguments;
  if (call.rawArguments === undefined) return {};
  try {
    const value = JSON.parse(call.rawArguments) as JsonValue;
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as ToolArguments;
  } catch {
    // shown as it came
  }
  return { invalid_json: call.rawArguments };
}

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;

/** Whether JSON.parse would round an integer of the text: then the text is handed on, with all its digits. */
function losesDigits(text: string): boolean {
  if (!/\d{16}/.test(text)) return false;
  for (const [token] of text.matchAll(TOKEN)) {
    if (/^-?\d{16,}$/.test(token) && BigInt(token) !== BigInt(Number(token))) return true;
  }
  return false;
}
