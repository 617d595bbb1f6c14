import { ToolCallResult } from "@shedkit/tool";
import type { FoundFile, GrepRequest, GrepResult } from "./grep.js";
import type { Context, SearchFileInput, SearchFileOutput } from "./search-file.js";
import { plural, shownPath } from "./text.js";

/** What is shown of what matches: its lines, the files that have some, or how many lines each has. */
export type OutputMode = "content" | "files_with_matches" | "count";

const LIMITS = { lines: { usual: 200, most: 2000 }, files: { usual: 500, most: 10_000 }, paths: 100 };

/** How many are shown. */
export function limitOf({ limit, output_mode }: SearchFileInput, byPath: boolean): number {
  const { usual, most } = byPath || tallyOf(output_mode) ? LIMITS.files : LIMITS.lines;
  return Math.min(limit ?? (byPath ? LIMITS.paths : usual), most);
}

/** What is kept in place of lines. */
export function tallyOf(mode: OutputMode | undefined): GrepRequest["tally"] {
  if (mode === "count") return "counts";
  return mode === "files_with_matches" ? "files" : undefined;
}

/** The result of a search by paths. */
export function showFiles(
  paths: readonly string[],
  more: number,
  late: boolean,
  input: SearchFileInput,
  ctx: Context,
): ToolCallResult {
  const notes: string[] = [];
  if (more > 0) notes.push(`${plural(more, "more file")} not shown. ${narrower(input, ctx, true)}`);
  if (late) notes.push(tooSlow(ctx));
  const head = paths.length === 0 ? "No file was found." : paths.map(shownPath).join("\n");
  const output: SearchFileOutput = { matches: paths.map((path) => ({ path })), truncated: more > 0 || late };
  return result(head, notes, output);
}

/** What stands between what is shown of two files. */
export function parting({ output_mode }: SearchFileInput): string {
  return tallyOf(output_mode) ? "\n" : "\n\n";
}

/** What is shown of a file. */
export function block({ path, lines, count }: FoundFile, { context, output_mode }: SearchFileInput): string {
  if (count !== undefined) return output_mode === "count" ? `${shownPath(path)}:${count}` : shownPath(path);
  const texts = lines.map(({ number, anchor, text, match }, i) => {
    const before = lines[i - 1];
    const gap = context && before && before.number + 1 < number ? "--\n" : "";
    const sign = match ? (anchor === undefined ? ":" : "→") : "-";
    return `${gap}${anchor ?? number}${sign}${text}`;
  });
  return [shownPath(path), ...texts].join("\n");
}

/** The result of a search in lines. */
export function showLines(
  found: GrepResult,
  { maxBytes, form, noFile }: Pick<GrepRequest, "maxBytes" | "form"> & { noFile: boolean },
  input: SearchFileInput,
  ctx: Context,
): ToolCallResult {
  const anchored = form !== undefined;
  const { files, shown, more, moreFiles, tooLarge, stopped } = found;
  const tally = tallyOf(input.output_mode) !== undefined;
  const notes: string[] = [];
  if (more > 0) {
    const least = stopped === undefined ? "" : "at least ";
    const what = tally
      ? plural(more, "more file")
      : `${plural(more, "more matching line")} in ${plural(moreFiles, "file")}`;
    notes.push(`${least}${what} not shown. ${narrower(input, ctx, tally)}`);
  }
  if (stopped === "late") notes.push(tooSlow(ctx));
  if (tooLarge > 0) notes.push(`${plural(tooLarge, "file")} larger than ${plural(maxBytes, "byte")} not searched.`);
  const blocks = files.map((file) => block(file, input)).join(parting(input));
  const miss = (noFile && noFileText(input, ctx)) || `No line matches.${missHint(input, anchored, ctx)}`;
  const head = shown === 0 ? miss : `${headOf(found, input)}\n\n${blocks}`;
  const matches = tally ? files.map(({ path, count }) => counted(path, count, input)) : files.flatMap(matchesIn);
  return result(head, notes, { matches, truncated: more > 0 || stopped !== undefined });
}

/** Of a search that had no file to look into, for what it was given; nothing where that was not narrowed. */
function noFileText({ glob = "", type = "" }: SearchFileInput, { names }: Context): string {
  const given = Object.entries({ glob, type }).filter(([, value]) => value.trim() !== "");
  const told = given.map(([param, value]) => `${names.param(param)} ${JSON.stringify(value.trim())}`);
  return told.length === 0 ? "" : `No line matches: no file that is searched fits ${told.join(" and ")}.`;
}

/** Why an expression may have matched nothing. A tool whose lines have anchors looks at single lines only. */
function missHint({ query, kind, multiline }: SearchFileInput, anchored: boolean, ctx: Context): string {
  const single = !/multi/i.test(kind ?? "") && !multiline;
  if (single && /\n|(?<!\\)(?:\\\\)*\\n/.test(query.trim())) {
    const more = ` Set ${ctx.names.param("multiline")} to true for a match that goes over several.`;
    return ` It is looked for line by line.${anchored ? "" : more}`;
  }
  // As code is copied: a call.
  if (!/\w\(/.test(query)) return "";
  return " Put a backslash before a ( or ) that stands in the text: it is a sign of the expression.";
}

function headOf({ files, shown }: GrepResult, { output_mode }: SearchFileInput): string {
  const inFiles = plural(files.length, "file");
  if (output_mode === "files_with_matches") return `${inFiles} with matching lines`;
  const lines = output_mode === "count" ? files.reduce((sum, { count = 0 }) => sum + count, 0) : shown;
  return `${plural(lines, "matching line")} in ${inFiles}`;
}

function counted(path: string, count: number | undefined, { output_mode }: SearchFileInput): Match {
  return output_mode === "count" ? { path, count } : { path };
}

type Match = SearchFileOutput["matches"][number];

function matchesIn({ path, lines }: FoundFile): Match[] {
  return lines
    .filter(({ match }) => match)
    .map(({ number, anchor, text }) => ({
      path,
      line_number: number,
      ...(anchor === undefined ? {} : { anchor }),
      content: text,
    }));
}

function result(head: string, notes: readonly string[], output: SearchFileOutput): ToolCallResult {
  const text = notes.length === 0 ? head : `${head}\n\n[${notes.join(" ")}]`;
  return new ToolCallResult([{ type: "text", text }], { output: { ...output } });
}

function narrower({ limit }: SearchFileInput, ctx: Context, files: boolean): string {
  const more = (limit ?? 0) < LIMITS[files ? "files" : "lines"].most ? `, or raise ${ctx.names.param("limit")}` : "";
  return `Narrow it with ${ctx.names.param("paths")} or ${ctx.names.param("glob")}${more}.`;
}

function tooSlow(ctx: Context): string {
  const s = ctx.params.timeoutMs / 1000;
  return `The search was stopped after ${s} s: this is what was found until then. Search fewer ${ctx.names.param("paths")}.`;
}
