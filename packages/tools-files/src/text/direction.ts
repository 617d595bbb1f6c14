import { lineNumbers } from "../edit/replace.js";
import { enumerate } from "./format.js";

/** Characters that can make lines look as if they said something else. */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

/** What is said of a text that has such characters, of which the first line has the number `first`; else nothing. */
export function directionNote(text: string, first: number): string {
  const found = [...text.matchAll(TURNING)];
  if (found.length === 0) return "";
  const numbers = lineNumbers(
    text,
    found.map(({ index }) => index),
  );
  const lines = [...new Set(numbers)].map((line) => line + first - 1);
  const names = new Set(found.map(([sign]) => `U+${sign.charCodeAt(0).toString(16).toUpperCase()}`));
  const where = `${lines.length === 1 ? "line" : "lines"} ${enumerate(lines)}`;
  return `Characters that are not seen and turn the direction of text (${[...names].join(", ")}) are on ${where}: to a person these may look otherwise.`;
}
