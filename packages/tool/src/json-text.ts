/** How deep arguments may nest. Deeper ones are refused: nothing that a tool is told needs it. */
export const MAX_DEPTH = 128;

/** What came of reading a text as JSON. An integer that a double cannot hold stands as a bigint. */
export type ReadJson = { ok: true; value: unknown; mended?: string | undefined } | { ok: false; problem: string };

/**
 * Reads JSON without ever rounding an integer. Of what is not JSON, only what cannot change the meaning is mended: a
 * code fence around it, raw line breaks inside strings, a comma before a closing bracket. A text that breaks off is
 * never completed: half a file must not be written.
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
  const { text: marked, mark, tooLong } = markLossyIntegers(text);
  if (tooLong !== undefined) return { ok: false, problem: `holding a number of ${tooLong} digits` };
  try {
    const value: unknown = JSON.parse(marked);
    return { ok: true, value: mark === undefined ? value : withBigints(value, mark, 0) };
  } catch (e) {
    if (e instanceof RangeError) return { ok: false, problem: `nested deeper than ${MAX_DEPTH}` };
    return { ok: false, problem: problemOf(text) };
  }
}

// Strings first, so that digits inside them are passed over.
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;
const LONG_INTEGER = /^-?\d{16,}$/;
const MAY_HOLD_ONE = /\d{16}/;
const MAX_DIGITS = 1000; // nobody's number, and slow to convert

/** JSON.parse would round a long integer: each is put in quotes, behind a mark that the text does not hold. */
function markLossyIntegers(text: string): { text: string; mark?: string; tooLong?: number } {
  if (!MAY_HOLD_ONE.test(text)) return { text };
  let mark = "int:";
  while (text.includes(mark)) mark = `i${mark}`;
  let found = false;
  let tooLong = 0;
  const marked = text.replace(TOKEN, (token) => {
    if (!LONG_INTEGER.test(token)) return token;
    if (token.length > MAX_DIGITS) tooLong = token.length;
    else if (!isExact(token)) {
      found = true;
      return `"${mark}${token}"`;
    }
    return token;
  });
  if (tooLong > 0) return { text, tooLong };
  return found ? { text: marked, mark } : { text };
}

function isExact(digits: string): boolean {
  const value = Number(digits);
  return Number.isFinite(value) && BigInt(digits) === BigInt(value);
}

function withBigints(value: unknown, mark: string, depth: number): unknown {
  if (typeof value === "string") return value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value;
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) throw new RangeError();
  if (Array.isArray(value)) return value.map((item) => withBigints(item, mark, depth + 1));
  // fromEntries defines own properties, so a "__proto__" key sets no prototype.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withBigints(item, mark, depth + 1)]));
}

const FENCE = "```";
const TOKEN_TO_MEND = /"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/gs;
// biome-ignore lint/suspicious/noControlCharactersInRegex: raw control characters are what is looked for
const RAW_CONTROL = /[\u0000-\u001f]/g;

function mend(text: string): string {
  return unfenced(text).replace(TOKEN_TO_MEND, (token) =>
    token === "," ? "" : token.replace(RAW_CONTROL, (c) => JSON.stringify(c).slice(1, -1)),
  );
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
