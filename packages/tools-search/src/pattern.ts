import { RE2JS } from "re2js";

/** What lines are looked at with. */
export interface Matcher {
  /** Where in a line the first match begins; -1 where there is none. */
  at(line: string): number;
  /** A text that every line with a match has in it, whatever its case where case does not count. */
  readonly required?: string | undefined;
}

/** How much work a native expression may do for one character, in steps. */
const MAX_STEPS = 200;

/**
 * A matcher for a regular expression in RE2's syntax (no lookaround, no back references), which takes time in proportion
 * to the text. What cannot take more is left to the native engine, which is faster. Throws Error where it is none.
 */
export function matcherOf(source: string, ignoreCase: boolean): Matcher {
  const linear = RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  const shape = shapeOf(source);
  const native = shape && nativeOf(source, ignoreCase);
  const literal = shape?.literal;
  const needed = ignoreCase ? undefined : literal;
  const at = (line: string): number => {
    if (needed !== undefined) {
      const found = line.indexOf(needed);
      if (found < 0 || shape?.plain) return found;
    }
    if (native && shape.ways * line.length ** shape.repeats <= MAX_STEPS) return line.search(native);
    if (!linear.test(line)) return -1;
    const matcher = linear.matcher(line);
    return matcher.find() ? matcher.start() : -1;
  };
  return { at, required: literal };
}

/** Where an expression matches a text that may go over several lines: the lines of every match, from 0. */
export type Spans = (text: string) => Generator<[first: number, last: number], void, void>;

/**
 * Finds matches that may go over line ends: `.` takes these too, `^` and `$` stand at every line. Each call of the
 * generator takes time in proportion to the text. Throws Error where the source is no expression.
 */
export function spansOf(source: string, ignoreCase: boolean): Spans {
  const flags = RE2JS.MULTILINE | RE2JS.DOTALL | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  const linear = RE2JS.compile(source, flags);
  return function* (text) {
    const matcher = linear.matcher(text);
    let [line, at] = [0, 0];
    const lineOf = (place: number): number => {
      for (let feed = text.indexOf("\n", at); feed >= 0 && feed < place; feed = text.indexOf("\n", at)) {
        line++;
        at = feed + 1;
      }
      return line;
    };
    while (matcher.find()) {
      const [start, end] = [matcher.start(), matcher.end()];
      const first = lineOf(start);
      // A line end that closes a match begins no further line.
      yield [first, lineOf(Math.max(start, end - 1))];
    }
  };
}

interface Shape {
  /** How many parts repeat. */
  repeats: number;
  /** How many ways there are through its alternatives. */
  ways: number;
  /** The longest text that stands in every match. */
  literal: string | undefined;
  /** It is nothing but that text. */
  plain: boolean;
}

/**
 * What can be said of an expression that both engines read alike: letters and signs, `.`, `^`, `$`, `\b`, `\d`, `\w`, simple
 * sets, groups that do not repeat, alternatives, and repetitions of one character. Undefined for all others.
 */
function shapeOf(source: string): Shape | undefined {
  const piece =
    /(?<group>\((?:\?:)?|\))|(?<bar>\|)|(?<one>\[\^?(?:[\w ,;:'"<>=/@#%&!.+*()-]|\\[dw.\]\\/-])+\]|\.|\\[dw])|(?<edge>\^|\$|\\b)|(?<letter>\\[^\p{L}\p{N}\s]|[^\\^$.*+?()[\]{}|\p{Surrogate}])|(?<repeat>(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})\??)/uy;
  const runs = [""];
  let [bars, groups, repeats, depth] = [0, 0, 0, 0];
  let last = "";
  let plain = true;
  for (let at = 0; at < source.length; at = piece.lastIndex) {
    piece.lastIndex = at;
    const match = piece.exec(source)?.groups;
    if (!match) return undefined;
    if (match.letter === undefined) plain = false;
    if (match.letter !== undefined) {
      runs[runs.length - 1] += match.letter.replace(/^\\/, "");
      last = "one";
    } else if (match.repeat !== undefined) {
      if (last !== "one") return undefined;
      // The character before it need not stand there.
      const run = [...(runs.at(-1) ?? "")];
      runs[runs.length - 1] = run.slice(0, -1).join("");
      runs.push("");
      repeats++;
      last = "repeat";
    } else {
      runs.push("");
      if (match.bar !== undefined) bars++;
      if (match.group !== undefined) {
        depth += match.group === ")" ? -1 : 1;
        groups++;
        if (depth < 0) return undefined;
      }
      last = match.one === undefined ? "" : "one";
    }
  }
  if (depth !== 0) return undefined;
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), "");
  const literal = bars + groups > 0 || longest === "" ? undefined : longest;
  return { repeats, ways: groups > 0 ? 2 ** bars : bars + 1, literal, plain: plain && literal !== undefined };
}

function nativeOf(source: string, ignoreCase: boolean): RegExp | undefined {
  if (ignoreCase && /\\[bw]/.test(source)) return undefined; // two letters beyond ASCII are words to it then
  try {
    return new RegExp(source, ignoreCase ? "isu" : "su");
  } catch {
    return undefined;
  }
}
