import { exactNumber } from "./json-number.js";
import { walkJson } from "./json-walk.js";

/** How deep arguments may nest. Deeper ones are refused: nothing that a tool is told needs it. */
export const MAX_DEPTH = 128;

/** What came of reading a text as JSON. An integer that a double cannot hold stands as a bigint. */
export type ReadJson = { ok: true; value: unknown; mended?: string | undefined } | { ok: false; problem: string };

/**
 * Reads JSON without ever rounding an integer, and without choosing between two values of one key. Of what is not JSON,
 * only what cannot change the meaning is mended: a code fence around it, raw line breaks inside strings, a comma before
 * a closing bracket. A text that breaks off is never completed: half a file must not be written.
 */
export function readJson(text: string): ReadJson {
  const trimmed = text.trim();
  const first = parse(trimmed);
  if (first.ok) return first;
  const mended = mend(trimmed);
  if (mended === trimmed) return first;
  const second = parse(mended);
  return second.ok ? { ...second, mended: "mended the JSON text" } : first;
}

function parse(text: string): ReadJson {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: problemOf(text) };
  }
  const { problem, lossy } = losses(text);
  if (problem !== undefined) return { ok: false, problem };
  return lossy ? exactly(text) : { ok: true, value };
}

/** What `JSON.parse` does not tell of a text that it takes: keys that stand twice, numbers that it changes. */
function losses(text: string): { problem?: string | undefined; lossy: boolean } {
  let problem: string | undefined;
  let lossy = false;
  let last = "";
  const open: (Set<string> | undefined)[] = [];
  walkJson(text, (token, start, end) => {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(undefined);
    else if (token === "}" || token === "]") open.pop();
    else if (token === "string") last = text.slice(start, end);
    else if (token === ":") {
      const key = last.includes("\\") ? JSON.stringify(JSON.parse(last)) : last;
      const keys = open.at(-1);
      if (keys?.has(key)) problem ??= `naming the key ${shortened(key)} twice`;
      keys?.add(key);
    } else if (token === "number") {
      const number = exactNumber(text.slice(start, end));
      if (number === undefined)
        problem ??= `holding the number ${shortened(text.slice(start, end))}, which cannot be held as it is`;
      else if (typeof number === "bigint") lossy = true;
    }
  });
  return { problem, lossy };
}

const SHOWN = 40;

function shortened(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}... (${text.length} characters)` : text;
}

/** The value of a JSON text with its long integers as bigints: each is read on its own, and stands in for a zero. */
function exactly(text: string): ReadJson {
  const parts: string[] = [];
  const numbers: (number | bigint)[] = [];
  let from = 0;
  walkJson(text, (token, start, end) => {
    if (token !== "number") return;
    parts.push(text.slice(from, start), String(numbers.length));
    numbers.push(exactNumber(text.slice(start, end)) ?? 0);
    from = end;
  });
  parts.push(text.slice(from));
  try {
    return { ok: true, value: withNumbers(JSON.parse(parts.join("")), numbers, 0) };
  } catch {
    return { ok: false, problem: `nested deeper than ${MAX_DEPTH}` };
  }
}

/** Each number is the place of the one meant: no text in the value can be taken for one. */
function withNumbers(value: unknown, numbers: readonly (number | bigint)[], depth: number): unknown {
  if (typeof value === "number") return numbers[value];
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) throw new RangeError();
  if (Array.isArray(value)) return value.map((item) => withNumbers(item, numbers, depth + 1));
  // fromEntries defines own properties, so a "__proto__" key sets no prototype.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withNumbers(item, numbers, depth + 1)]));
}

const FENCE = "```";
// biome-ignore lint/suspicious/noControlCharactersInRegex: raw control characters are what is looked for
const RAW_CONTROL = /[\u0000-\u001f]/g;

/** In one pass: raw control characters in strings escaped, commas before a closing bracket left out. */
function mend(text: string): string {
  const inner = unfenced(text);
  const parts: string[] = [];
  let from = 0;
  let comma = -1;
  walkJson(inner, (token, start, end) => {
    if (token === "string") {
      parts.push(
        inner.slice(from, start),
        inner.slice(start, end).replace(RAW_CONTROL, (c) => JSON.stringify(c).slice(1, -1)),
      );
      from = end;
    } else if ((token === "}" || token === "]") && comma >= from && inner.slice(comma + 1, start).trim() === "") {
      parts.push(inner.slice(from, comma), inner.slice(comma + 1, start));
      from = start;
    }
    comma = token === "," ? start : -1;
  });
  parts.push(inner.slice(from));
  return parts.join("");
}

/** What stands between the first line, if it opens a code fence, and its end. */
function unfenced(text: string): string {
  const end = text.endsWith(FENCE) ? text.length - FENCE.length : 0;
  const line = text.indexOf("\n");
  return text.startsWith(FENCE) && line > 0 && line < end ? text.slice(line + 1, end) : text;
}

/** Where the text stops being JSON. The runtime's message tells the place, and otherwise quotes too much. */
function problemOf(text: string): string {
  try {
    JSON.parse(text);
  } catch (e) {
    const message = e instanceof Error ? e.message : "";
    const at = Number(/position (\d+)/.exec(message)?.[1] ?? Number.NaN);
    if (at >= text.length || /end of JSON|unterminated/i.test(message))
      return `broken off after ${text.length} characters`;
    return Number.isNaN(at)
      ? `not JSON; it begins ${near(text, 0)}`
      : `not JSON at character ${at} of ${text.length}, near ${near(text, at)}`;
  }
  return "not JSON";
}

function near(text: string, at: number): string {
  return JSON.stringify(text.slice(Math.max(0, at - 20), at + 20));
}
