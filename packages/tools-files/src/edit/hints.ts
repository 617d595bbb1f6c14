import { GAP_TEXT, hasGap } from "../text/data-uri.js";
import { shownText } from "../text/format.js";
import { findSpans, lineNumbers } from "./replace.js";

const MAX_COMPOSED = 16 * 1024 * 1024; // length of a text that is looked through with other accents
const MAX_LINE = 200; // characters of a line that is shown

/** Why a text may not have been found: one sentence, or nothing. */
export function missHint(text: string, old: string): string {
  const unescaped = old.replaceAll("\\n", "\n").replaceAll("\\t", "\t").replaceAll('\\"', '"');
  const stands = (other: string) => other !== old && findSpans(text, other).length > 0;
  if (stands(unescaped)) {
    return 'It would be found with real line ends, tabs and quotes in place of the escapes (\\n, \\t, \\") in it.';
  }
  const bare = old.replace(/^\d+→/gm, "");
  if (stands(bare)) return "It would be found without the line numbers (1→), which are no part of the file.";
  if (old.includes("\ufffd") && !text.includes("\ufffd"))
    return "\ufffd is shown for bytes of the file that are no text: give only what stands before or after them.";
  if (text.length <= MAX_COMPOSED && /[^\p{ASCII}]/u.test(old) && text.normalize("NFC").includes(old.normalize("NFC")))
    return "It stands there with accents that are composed otherwise: copy it from what you read, or give what stands beside it.";
  if (hasGap(old)) return `${GAP_TEXT} Give only what stands before or after it.`;
  const line = nearestLine(text, old);
  return line === undefined ? "" : `The nearest line is ${line}`;
}

/** The first line that has the longest word of the first line wanted, with its number. */
function nearestLine(text: string, old: string): string | undefined {
  const firstLine = old.split("\n").find((line) => line.trim() !== "") ?? "";
  const words = firstLine.match(/[\p{L}\p{N}_]+/gu) ?? [];
  const word = words.reduce((longest, next) => (next.length > longest.length ? next : longest), "");
  const at = word === "" ? -1 : text.indexOf(word);
  if (at < 0) return undefined;
  const start = text.lastIndexOf("\n", at) + 1;
  const feed = text.indexOf("\n", at);
  const line = text.slice(start, feed < 0 ? undefined : feed).replace(/\r$/, "");
  // Around the word, where the line is long.
  const from = line.length <= MAX_LINE ? 0 : Math.max(0, Math.min(at - start - 50, line.length - MAX_LINE));
  return `${lineNumbers(text, [at])[0]}: ${shownText(line.slice(from, from + MAX_LINE))}`;
}
