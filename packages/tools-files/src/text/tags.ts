import { quote } from "@shedkit/fs";
import { escapeTag, type ToolContext, unescapeTag, wrapperTag } from "@shedkit/tool";
import { by, Failure } from "../failure.js";

/** The tag whose `<` is shown as `&lt;` where it stands in a file; undefined where all is shown as it is. */
export function shownTag({ resources }: ToolContext): string | undefined {
  return resources.get(wrapperTag);
}

/** True for a text with a tag that is not shown as it is. */
export function hasTag(text: string, tag: string): boolean {
  return escapeTag(text, tag) !== text;
}

/**
 * A text that takes the place of `before`, with `<` where it has what is shown of the tags there. Throws Failure where tags
 * stand there that have `&lt;` themselves: which of them are meant cannot be told.
 */
export function withTagsOf(before: string, next: string, path: string, ctx: ToolContext): string {
  const tag = shownTag(ctx);
  if (tag === undefined) return next;
  const real = unescapeTag(next, tag);
  if (real === next || !hasTag(before, tag)) return next;
  if (unescapeTag(before, tag) === before) return real;
  throw new Failure(
    "tags shown alike",
    `In ${quote(path)} some tags begin with < and some with &lt;, and all of them are shown with &lt;. Nothing was ` +
      `written. Change only what stands before or after them${by("edit", ctx)}.`,
  );
}
