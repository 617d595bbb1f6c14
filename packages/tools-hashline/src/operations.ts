import { quote } from "@shedkit/fs";
import type { ToolContext } from "@shedkit/tool";
import { type AnchorFault, hasAnchors, resolve } from "./anchor.js";
import type { HashlineEdit, HashlineEditParams } from "./edit.js";
import { failure } from "./failure.js";
import type { HashedFile } from "./file.js";
import { contentLines, shownText } from "./lines.js";
import { inOrder, overlapping, type Splice } from "./splice.js";

const MOST_FAULTS = 5; // told in one answer
const START = /^0:?$/;
const END = /^eof$/i;

type Context = ToolContext & { params: HashlineEditParams };

/** What edits come to in a file, in the order of the lines. Throws Failure, which tells of all that is wrong with their anchors. */
export function splicesOf(edits: readonly HashlineEdit[], file: HashedFile, ctx: Context): Splice[] {
  const splices: Splice[] = [];
  const faults: AnchorFault[] = [];
  for (const [i, edit] of edits.entries()) {
    const splice = spliceOf(edit, i, file, ctx);
    if ("kind" in splice) faults.push(splice);
    else splices.push(splice);
    if (faults.length > MOST_FAULTS) break;
  }
  const [first] = faults;
  if (first) {
    const told = faults.slice(0, MOST_FAULTS).map(({ kind, text }, i) => (i === 0 ? text : `${kind}: ${text}`));
    const more = faults.length > MOST_FAULTS ? ["More of the anchors are wrong."] : [];
    const advice = "Nothing was changed. Make the call again with the anchors as they are now.";
    throw failure(first.kind, first.detail, [...told, ...more, advice].join("\n"));
  }
  const ordered = inOrder(splices);
  const pair = overlapping(ordered);
  if (pair) {
    const [a, b] = pair.map(({ edit }) => edit + 1).sort((x, y) => x - y);
    const text = `Edits ${a} and ${b} change the same lines of ${quote(file.path)}. Nothing was changed. Make one edit of them.`;
    throw failure("OverlappingEdits", `edits ${a} and ${b}`, text);
  }
  return ordered;
}

function spliceOf(edit: HashlineEdit, index: number, file: HashedFile, ctx: Context): Splice | AnchorFault {
  const { op, anchor, end_anchor, content } = edit;
  const { param } = ctx.names;
  const which = `Edit ${index + 1} (${op})`;
  const added = contentLines(content);
  if (hasAnchors(added, file)) {
    const text = `${which}: its content has the anchors of lines in it. Give the text of the lines alone.`;
    return { kind: "InvalidInput", detail: `anchors in the content of edit ${index + 1}`, text };
  }
  if (anchor === undefined || anchor.trim() === "") {
    const text = `${which} has no anchor: it needs that of the line to change.`;
    return { kind: "InvalidInput", detail: `no anchor in edit ${index + 1}`, text };
  }
  const { hashLength } = ctx.params;
  if (op === "insert_after") {
    if (added.length === 0) {
      const text = `${which} has no content: there is nothing to insert. An empty line is "\\n".`;
      return { kind: "InvalidInput", detail: `no content in edit ${index + 1}`, text };
    }
    const start = placeToInsert(anchor.trim(), file, hashLength);
    return typeof start === "number" ? { start, removed: 0, added, edit: index } : start;
  }
  const first = resolve(anchor, file, hashLength);
  if (typeof first !== "number") return first;
  const last = end_anchor === undefined || end_anchor.trim() === "" ? first : resolve(end_anchor, file, hashLength);
  if (typeof last !== "number") return last;
  if (last < first) {
    const text = `${which} ends (line ${last + 1}) before it begins (line ${first + 1}). See its anchors in ${param("edits")}.`;
    return { kind: "InvalidInput", detail: `edit ${index + 1} ends before it begins`, text };
  }
  if (content.includes("\ufffd") && file.lines.slice(first, last + 1).some(({ text }) => shownText(text) !== text)) {
    const text = `${which}: its lines have bytes that are no text, shown as \ufffd, which cannot be written. Leave those lines as they are.`;
    return { kind: "InvalidInput", detail: `bytes that are no text in edit ${index + 1}`, text };
  }
  return { start: first, removed: last - first + 1, added, edit: index };
}

/** How many lines stand before what is inserted. */
function placeToInsert(anchor: string, file: HashedFile, letters: number): number | AnchorFault {
  if (START.test(anchor)) return 0;
  if (END.test(anchor)) return file.lines.length;
  const line = resolve(anchor, file, letters);
  return typeof line === "number" ? line + 1 : line;
}
