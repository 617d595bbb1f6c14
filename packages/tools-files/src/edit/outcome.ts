import { quote } from "@shedkit/fs";
import type { ToolContext } from "@shedkit/tool";
import { by, Failure } from "../failure.js";
import { enumerate } from "../text/format.js";
import { shownTag } from "../text/tags.js";
import type { EditResult, EditSettings } from "./match.js";

/** What is said of an edit that was made where the text only nearly stood. */
export const NOTES = {
  exactly: "",
  indentation: " White space at the ends of lines differed; the new text was indented as the file is.",
  lookalikes: " Some characters of the file only look like those given; they were kept where nothing else changed.",
} as const;

export function settingsOf(
  ctx: ToolContext & { params: { matchIndentation: boolean; matchLookalikes: boolean } },
): EditSettings {
  const { matchIndentation, matchLookalikes } = ctx.params;
  return { indentation: matchIndentation, lookalikes: matchLookalikes, tag: shownTag(ctx) };
}

/** Says why an edit could not be made, and what to do. */
export function refused(
  result: Exclude<EditResult, { type: "edited" }>,
  path: string,
  ctx: ToolContext,
  which = "",
): Failure {
  const { param } = ctx.names;
  const old = `${param("old_string")}${which}`;
  if (result.type === "missing") {
    return new Failure(
      `not found in ${quote(path)}`,
      `${old} does not stand in ${quote(path)}. Nothing was changed. ` +
        `Read the file${by("read", ctx)} and copy the text exactly, with its spaces and indentation.${result.hint === "" ? "" : ` ${result.hint}`}`,
    );
  }
  const times = result.lines.length;
  return new Failure(
    `${times} places in ${quote(path)}`,
    `${old} stands ${times} times in ${quote(path)}, on lines ${enumerate(result.lines)}. Nothing was changed. ` +
      `Give more of the text around the place you mean, or set ${param("replace_all")} to true.`,
  );
}
