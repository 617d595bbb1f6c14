import { numbered, shownText } from "../text/format.js";
import { lineBefore, lineNumbers, type Span } from "./replace.js";

const BESIDE = 2; // lines before and after the changed ones
const MOST = 12; // lines
const MAX_LINE = 200; // characters of one

/** The lines of a text that a part of it stands on, and some beside them, numbered as those that were read. */
export function snippet(text: string, { start, end }: Span): string {
  let at = start === 0 ? 0 : text.lastIndexOf("\n", start - 1) + 1;
  for (let i = 0; i < BESIDE; i++) at = lineBefore(text, at);
  const lines: string[] = [];
  let after = 0;
  const [first = 1] = lineNumbers(text, [at]);
  while (at < text.length && after <= BESIDE && lines.length < MOST) {
    const feed = text.indexOf("\n", at);
    const stop = feed < 0 ? text.length : feed;
    lines.push(clipped(text.slice(at, stop)));
    if (stop >= end) after++;
    at = stop + 1;
  }
  const more = at < text.length && after <= BESIDE ? "\n[...]" : "";
  return lines.length === 0 ? "" : numbered(lines.join("\n"), first) + more;
}

function clipped(line: string): string {
  const shown = shownText(line.replace(/\r$/, ""));
  return shown.length > MAX_LINE ? `${shownText(shown.slice(0, MAX_LINE))} [...]` : shown;
}
