import type { JsonValue, ToolArguments, ToolCallOutput } from "@shedkit/types";

/** A call's arguments from the text that came: an object, or the text where it is none. No text is no arguments. */
export function readCallArguments(text: string): Pick<ToolCallOutput, "arguments" | "rawArguments"> {
  if (text.trim() === "") return { arguments: {} };
  try {
    const value = JSON.parse(text) as JsonValue;
    if (typeof value === "object" && value !== null && !Array.isArray(value) && !losesSomething(text)) {
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

/**
 * Whether JSON.parse would change what a text says: digits that no double holds, a number that becomes infinite, a key
 * that stands twice. Then the text is handed on, and the tool reads it exactly. A yes too many costs nothing.
 */
function losesSomething(text: string): boolean {
  const keys: Set<string>[] = [];
  let last = "";
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string;
    if (char === '"') {
      const start = at++;
      while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
      last = text.slice(start, at + 1);
    } else if (char === "{" || char === "[") keys.push(new Set());
    else if (char === "}" || char === "]") keys.pop();
    else if (char === ":") {
      const key = last.includes("\\") ? JSON.stringify(JSON.parse(last)) : last;
      if (keys.at(-1)?.has(key)) return true;
      keys.at(-1)?.add(key);
    } else if (NUMBER_STARTS.test(char)) {
      const start = at;
      while (NUMBER_GOES_ON.test(text[at + 1] ?? "")) at++;
      if (losesDigits(text.slice(start, at + 1))) return true;
    }
  }
  return false;
}

const NUMBER_STARTS = /[-0-9]/;
const NUMBER_GOES_ON = /[-+.0-9eE]/;

function losesDigits(number: string): boolean {
  const value = Number(number);
  if (Math.abs(value) < 2 ** 53) return false;
  if (!Number.isFinite(value)) return true;
  return /^-?\d+$/.test(number) ? BigInt(number) !== BigInt(value) : String(value) !== number;
}
