import { ToolCallResult } from "@shedkit/tool";
import type { FoundFile, GrepResult } from "./grep.js";
import type { Context, SearchFileInput, SearchFileOutput } from "./search-file.js";
import { plural, shownPath } from "./text.js";

/** How many a call may ask for. */
export const MAX_LIMIT = 2000;

/** The result of a search by paths. */
export function showFiles(
  paths: readonly string[],
  more: number,
  late: boolean,
  input: SearchFileInput,
  ctx: Context,
): ToolCallResult {
  const notes: string[] = [];
  if (more > 0) notes.push(`${plural(more, "more file")} not shown. ${narrower(input, ctx)}`);
  if (late) notes.push(tooSlow(ctx));
  const head = paths.length === 0 ? "No file was found." : paths.map(shownPath).join("\n");
  const output: SearchFileOutput = { matches: paths.map((path) => ({ path })), truncated: more > 0 || late };
  return result(head, notes, output);
}

export const PARTED = "\n\n";

/** What is shown of a file. */
export function block({ path, lines }: FoundFile, { context }: SearchFileInput): string {
  const texts = lines.map(({ number, anchor, text, match }, i) => {
    const before = lines[i - 1];
    const gap = context && before && before.number + 1 < number ? "--\n" : "";
    const sign = match ? (anchor === undefined ? ":" : "→") : "-";
    return `${gap}${anchor ?? number}${sign}${text}`;
  });
  return [shownPath(path), ...texts].join("\n");
}

/** The result of a search in lines. */
export function showLines(found: GrepResult, maxBytes: number, input: SearchFileInput, ctx: Context): ToolCallResult {
  const { files, shown, more, moreFiles, tooLarge, stopped } = found;
  const blocks = files.map((file) => block(file, input));
  const notes: string[] = [];
  if (more > 0) {
    const least = stopped === undefined ? "" : "at least ";
    notes.push(
      `${least}${plural(more, "more matching line")} in ${plural(moreFiles, "file")} not shown. ${narrower(input, ctx)}`,
    );
  }
  if (stopped === "late") notes.push(tooSlow(ctx));
  if (tooLarge > 0) notes.push(`${plural(tooLarge, "file")} larger than ${plural(maxBytes, "byte")} not searched.`);
  const head =
    shown === 0
      ? "No line matches."
      : `${plural(shown, "matching line")} in ${plural(files.length, "file")}\n\n${blocks.join(PARTED)}`;
  const matches = files.flatMap(({ path, lines }) =>
    lines
      .filter(({ match }) => match)
      .map(({ number, anchor, text }) => ({
        path,
        line_number: number,
        ...(anchor === undefined ? {} : { anchor }),
        content: text,
      })),
  );
  return result(head, notes, { matches, truncated: more > 0 || stopped !== undefined });
}

function result(head: string, notes: readonly string[], output: SearchFileOutput): ToolCallResult {
  const text = notes.length === 0 ? head : `${head}\n\n[${notes.join(" ")}]`;
  return new ToolCallResult([{ type: "text", text }], { output: { ...output } });
}

function narrower({ limit }: SearchFileInput, ctx: Context): string {
  const more = (limit ?? 0) < MAX_LIMIT ? `, or raise ${ctx.names.param("limit")}` : "";
  return `Narrow it with ${ctx.names.param("paths")} or ${ctx.names.param("glob")}${more}.`;
}

function tooSlow(ctx: Context): string {
  const s = ctx.params.timeoutMs / 1000;
  return `The search was stopped after ${s} s: this is what was found until then. Search fewer ${ctx.names.param("paths")}.`;
}
