import { unescapeTag } from "@shedkit/tool";
import { enumerate } from "../text/format.js";
import { hasTag } from "../text/tags.js";
import { differences, findLookalikes, keepLookalikes } from "./confusables.js";
import { missHint } from "./hints.js";
import { findIndented, reindent } from "./indentation.js";
import { LfView } from "./lf-view.js";
import { exactSpans, findSpans, lineNumbers, replaceSpans, type Span, sameButLineEnds } from "./replace.js";

/** One replacement in a text. */
export interface TextEdit {
  old: string;
  next: string;
  all: boolean;
}

export interface EditSettings {
  /** Takes lines that differ only in white space at their ends, where only one place does. */
  indentation: boolean;
  /** Takes characters that look alike, where only one place has them. */
  lookalikes: boolean;
  /** A tag whose `<` is shown as `&lt;`: takes what is shown for what stands there, where that does not stand there itself. */
  tag?: string | undefined;
}

export type EditResult =
  | { type: "edited"; text: string; placed: Span[]; matched: "exactly" | "indentation" | "lookalikes" }
  /** `hint`: a sentence on what stands there instead, or nothing. */
  | { type: "missing"; hint: string }
  | { type: "ambiguous"; lines: number[] };

/** Applies a replacement: where the text stands exactly; else, as the settings allow, where it nearly does. */
export function applyEdit(text: string, edit: TextEdit, settings: EditSettings): EditResult {
  const literal = sameButLineEnds(edit.old, edit.next);
  const spans = (literal ? exactSpans : findSpans)(text, edit.old);
  if (spans.length > 1 && !edit.all) return { type: "ambiguous", lines: linesOf(text, spans) };
  if (spans.length > 0)
    return { type: "edited", ...replaceSpans(text, spans, edit.next, { literal }), matched: "exactly" };
  const real = settings.tag === undefined ? undefined : withRealTags(text, edit, settings.tag);
  const asItStands =
    real && (real.old === real.next ? NO_CHANGE : applyEdit(text, real, { ...settings, tag: undefined }));
  if (asItStands && asItStands.type !== "missing") return asItStands;
  const hints: string[] = [];
  for (const nearly of [nearlyIndented, nearlyAlike]) {
    const result = nearly(text, edit, settings);
    if (typeof result === "object") return result;
    if (result !== undefined) hints.push(result);
  }
  return { type: "missing", hint: hints[0] ?? (asItStands?.hint || missHint(text, edit.old)) };
}

const NO_CHANGE: EditResult & { type: "missing" } = {
  type: "missing",
  hint: "The tag begins with < there already, which is shown as &lt; before this tag.",
};

/** What is meant by an edit that was copied from what was shown; undefined where that has no such tags. */
function withRealTags(text: string, edit: TextEdit, tag: string): TextEdit | undefined {
  const old = unescapeTag(edit.old, tag);
  return old === edit.old || !hasTag(text, tag) ? undefined : { ...edit, old, next: unescapeTag(edit.next, tag) };
}

function nearlyIndented(text: string, edit: TextEdit, settings: EditSettings): EditResult | string | undefined {
  const view = new LfView(text);
  const old = edit.old.replaceAll("\r\n", "\n");
  const matches = findIndented(view.text, old);
  const [only] = matches;
  if (!only) return undefined;
  const lines = linesOf(view.text, matches);
  if (matches.length > 1) return `With other white space at the ends of lines it stands at lines ${enumerate(lines)}.`;
  const indented = settings.indentation ? reindent(old, only.lines, edit.next.replaceAll("\r\n", "\n")) : undefined;
  if (indented === undefined) return `At line ${lines[0]} it stands with other white space at the ends of lines.`;
  const span = { start: view.original(only.start), end: view.original(only.end) };
  return { type: "edited", ...replaceSpans(text, [span], indented), matched: "indentation" };
}

const MAX_FOLDED = 16 * 1024 * 1024; // length of a text that is looked through for characters that look alike
const MAX_SHOWN = 400;

function nearlyAlike(text: string, edit: TextEdit, settings: EditSettings): EditResult | string | undefined {
  if (text.length > MAX_FOLDED) return undefined;
  const view = new LfView(text);
  const matches = findLookalikes(view.text, edit.old.replaceAll("\r\n", "\n"));
  const [only] = matches;
  if (!only) return undefined;
  const lines = linesOf(view.text, matches);
  if (matches.length > 1) return `With other characters that look the same it stands at lines ${enumerate(lines)}.`;
  if (!settings.lookalikes) {
    const shown = only.text.length > MAX_SHOWN ? "" : ` Copy it from there: ${JSON.stringify(only.text)}.`;
    return `At line ${lines[0]} it stands with characters that look the same: ${differences(only.text, edit.old).join(", ")}.${shown}`;
  }
  const span = { start: view.original(only.start), end: view.original(only.end) };
  const next = keepLookalikes(only.text, edit.next.replaceAll("\r\n", "\n"));
  return { type: "edited", ...replaceSpans(text, [span], next), matched: "lookalikes" };
}

function linesOf(text: string, spans: readonly Span[]): number[] {
  return lineNumbers(
    text,
    spans.map(({ start }) => start),
  );
}
