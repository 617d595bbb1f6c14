import { type FileSystem, isFsError, quote } from "@shedkit/fs";
import {
  type AccessRequest,
  defineTool,
  ToolCallResult,
  ToolError,
  type TypedTool,
  type TypedToolContext,
} from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { filesBelow } from "./files.js";
import { find } from "./find.js";
import type { FileFinder } from "./finder.js";
import { globOf } from "./glob.js";
import { type GrepResult, grep } from "./grep.js";
import { matcherOf, spansOf } from "./pattern.js";
import { plural } from "./text.js";

/** What is looked for: lines, files, or lines with one of several patterns. Small letters are taken too. */
export type SearchKind = "Grep" | "Find" | "MultiGrep" | "grep" | "find" | "multi_grep";

export interface SearchFileInput {
  /** A regular expression; of `Find` words or a glob; of `MultiGrep` one expression a line. */
  query: string;
  /** Default: `Grep`. */
  kind?: SearchKind | undefined;
  /** Files and folders. Default: the root folder. */
  paths?: string[] | undefined;
  /** Only files whose paths fit, e.g. `*.ts`. */
  glob?: string | undefined;
  ignore_case?: boolean | undefined;
  /** Of `Grep`: matches may go over several lines, `.` takes line ends too. Default: false. */
  multiline?: boolean | undefined;
  /** Lines shown before and after each match. Default: 0. */
  context?: number | undefined;
  /** Default: 200 lines, 100 files. */
  limit?: number | undefined;
  /** Also names that begin with a dot. Default: false. */
  hidden?: boolean | undefined;
}

export interface SearchFileOutput {
  matches: { path: string; line_number?: number | undefined; content?: string | undefined }[];
  /** True where something is left out. */
  truncated: boolean;
}

/** Settings of `search_file`. */
export interface SearchFileParams {
  /** How long a search may take, in milliseconds; then what was found is shown. Default: 20,000. */
  timeoutMs: number;
  /** Files that are larger are not looked into, in bytes. Default: 16 MiB. */
  maxFileBytes: number;
}

/** What a search may use besides the file system. */
export interface SearchFileOptions extends Partial<SearchFileParams> {
  /** Lists files faster, where there is one: `ripgrep(...)` of `@shedkit/tools-search/node`. */
  finder?: FileFinder | undefined;
}

const MAX_LIMIT = 2000;
const MAX_MULTILINE = 1024 * 1024; // of a file, in bytes: it is looked through at once
const LINES = 200;
const FILES = 100;
const MOST_COUNTED = 10_000;
const MAX_QUERY = 10_000;

const KINDS = ["Grep", "Find", "MultiGrep", "grep", "find", "multi_grep"] as const;

const Input = Type.Object(
  {
    query: Type.String({
      minLength: 1,
      maxLength: MAX_QUERY,
      description: "A regular expression; for Find words of the path, or a glob; for MultiGrep one expression a line.",
    }),
    kind: Type.Optional(
      Type.Union(
        KINDS.map((kind) => Type.Literal(kind)),
        { description: "Grep: lines. Find: files by path. MultiGrep: lines with any of several.", default: "Grep" },
      ),
    ),
    paths: Type.Optional(Type.Array(Type.String(), { description: "Files and folders. Default: the root folder." })),
    glob: Type.Optional(Type.String({ description: "Only files whose paths fit, e.g. *.ts or src/**/*.{js,ts}." })),
    ignore_case: Type.Optional(Type.Boolean({ default: false })),
    multiline: Type.Optional(
      Type.Boolean({
        description: "Lets a match of Grep go over several lines; . takes line ends too.",
        default: false,
      }),
    ),
    context: Type.Optional(Type.Integer({ minimum: 0, maximum: 20, description: "Lines before and after a match." })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, description: `How many are shown. Default: ${LINES} lines, ${FILES} files.` }),
    ),
    hidden: Type.Optional(Type.Boolean({ description: "Also names that begin with a dot.", default: false })),
  },
  { additionalProperties: false },
);

const Output = Type.Object({
  matches: Type.Array(
    Type.Object({
      path: Type.String(),
      line_number: Type.Optional(Type.Integer()),
      content: Type.Optional(Type.String()),
    }),
  ),
  truncated: Type.Boolean(),
});

const Params = Type.Object(
  { timeoutMs: Type.Integer({ minimum: 1, maximum: 100_000 }), maxFileBytes: Type.Integer({ minimum: 1 }) },
  { additionalProperties: false },
);

/** Searches files: their lines, or their paths. */
export function searchFileTool(
  fs: FileSystem,
  { finder, ...params }: SearchFileOptions = {},
): TypedTool<SearchFileInput, SearchFileOutput> {
  return defineTool({
    id: "search_file",
    namespace: "search",
    kind: "search",
    category: "search_files",
    description:
      "Search files: their lines by a regular expression, or their paths.\nWhat ignore files name is left out. For what was " +
      "said earlier in this conversation use search_context.",
    input: Input,
    output: Output,
    params: { schema: Params, defaults: { timeoutMs: 20_000, maxFileBytes: 16 * 1024 * 1024, ...params } },
    // The tool keeps to its own limits, and its notes at the end must stay.
    capabilities: { maxResultBytes: 400_000 },
    access: ({ paths }) => accessTo(fs, paths),
    run: (input, ctx) => search(fs, finder, input, ctx),
  });
}

type Context = TypedToolContext<SearchFileParams, undefined>;

async function search(
  fs: FileSystem,
  finder: FileFinder | undefined,
  input: SearchFileInput,
  ctx: Context,
): Promise<ToolCallResult> {
  if (input.query.trim() === "") {
    throw new ToolError("invalidArguments", ctx.names.tool, `${ctx.names.param("query")} is empty.`);
  }
  const kind = (input.kind ?? "Grep").toLowerCase().replace("_", "");
  const places = await placesOf(fs, input.paths, ctx);
  if (ToolCallResult.is(places)) return places;
  const ends = performance.now() + ctx.params.timeoutMs;
  const late = () => performance.now() > ends;
  const limit = Math.min(input.limit ?? (kind === "find" ? FILES : LINES), MAX_LIMIT);
  if (kind === "find") {
    const paths = filesOf(fs, finder, places, input, [], ctx);
    const found = await find(fs, paths, input.query.trim(), { limit, late, signal: ctx.signal });
    return showFiles(found.paths, found.more, found.stopped !== undefined, input, ctx);
  }
  const queries = kind === "multigrep" ? input.query.split(/\r?\n/).filter((line) => line !== "") : [input.query];
  const ignoreCase = input.ignore_case ?? false;
  const many = kind === "grep" && input.multiline === true;
  const matchers = many ? [] : queries.map((query) => compile(() => matcherOf(query, ignoreCase), ctx));
  const spans = many ? compile(() => spansOf(input.query, ignoreCase), ctx) : undefined;
  const texts = matchers.flatMap(({ required }) => required ?? []);
  const paths = filesOf(fs, finder, places, input, many || texts.length < matchers.length ? [] : texts, ctx);
  const maxBytes = many ? Math.min(ctx.params.maxFileBytes, MAX_MULTILINE) : ctx.params.maxFileBytes;
  const found = await grep(fs, paths, {
    ...{ matchers, spans, limit, maxBytes, late },
    context: input.context ?? 0,
    countTo: MOST_COUNTED,
    signal: ctx.signal,
  });
  return showLines(found, maxBytes, input, ctx);
}

/** What is searched: files as they were named, and all that is in folders. */
interface Places {
  files: string[];
  folders: string[];
}

async function placesOf(
  fs: FileSystem,
  paths: readonly string[] | undefined,
  ctx: Context,
): Promise<Places | ToolCallResult> {
  const places: Places = { files: [], folders: [] };
  for (const given of paths === undefined || paths.length === 0 ? ["."] : paths) {
    try {
      const path = fs.resolve(given.trim() === "" ? "." : given.trim());
      const { type } = await fs.stat(path, { signal: ctx.signal });
      if (type === "directory") places.folders.push(path);
      else places.files.push(path);
    } catch (error) {
      if (!isFsError(error)) throw error;
      const { reason } = error.details;
      if (reason === "notFound") {
        const lister = ctx.names.toolOf("list");
        const text = `There is no file or folder ${quote(given)} to search. List its parent folder${lister === undefined ? "" : ` with ${lister}`}, or leave out ${ctx.names.param("paths")}.`;
        return ToolCallResult.failure(`no such file: ${quote(given)}`, text);
      }
      const kind = reason === "outside" || reason === "permission" ? "permissionDenied" : "execution";
      throw new ToolError(kind, ctx.names.tool, error.message, { cause: error });
    }
  }
  return places;
}

async function* filesOf(
  fs: FileSystem,
  finder: FileFinder | undefined,
  { files, folders }: Places,
  { glob, hidden = false, ignore_case = false }: SearchFileInput,
  texts: readonly string[],
  ctx: Context,
): AsyncGenerator<string, void, void> {
  const fits = glob === undefined || glob.trim() === "" ? () => true : globOf(glob.trim());
  for (const path of new Set(files)) yield path;
  const request = { folders, hidden, texts, ignoreCase: ignore_case, signal: ctx.signal };
  for await (const path of filesBelow(fs, finder, request)) {
    if (fits(path) && !files.includes(path)) yield path;
  }
}

function compile<T>(make: () => T, ctx: Context): T {
  try {
    return make();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const text =
      `${ctx.names.param("query")} is no regular expression that can be used: ${why}. Put a backslash before signs that ` +
      "stand for themselves, such as ( [ { . * + ?. There is no lookaround and no back reference.";
    throw new ToolError("invalidArguments", ctx.names.tool, text, { cause: error });
  }
}

function showFiles(
  paths: readonly string[],
  more: number,
  late: boolean,
  input: SearchFileInput,
  ctx: Context,
): ToolCallResult {
  const notes: string[] = [];
  if (more > 0) notes.push(`${plural(more, "more file")} not shown. ${narrower(input, ctx)}`);
  if (late) notes.push(tooSlow(ctx));
  const head = paths.length === 0 ? "No file was found." : paths.join("\n");
  const output: SearchFileOutput = { matches: paths.map((path) => ({ path })), truncated: more > 0 || late };
  return result(head, notes, output);
}

function showLines(found: GrepResult, maxBytes: number, input: SearchFileInput, ctx: Context): ToolCallResult {
  const { files, shown, more, moreFiles, tooLarge, stopped } = found;
  const blocks = files.map(({ path, lines }) => {
    const texts: string[] = [];
    lines.forEach(({ number, text, match }, i) => {
      const before = lines[i - 1];
      if (input.context && before && before.number + 1 < number) texts.push("--");
      texts.push(`${number}${match ? ":" : "-"}${text}`);
    });
    return [path, ...texts].join("\n");
  });
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
      : `${plural(shown, "matching line")} in ${plural(files.length, "file")}\n\n${blocks.join("\n\n")}`;
  const matches = files.flatMap(({ path, lines }) =>
    lines.filter(({ match }) => match).map(({ number, text }) => ({ path, line_number: number, content: text })),
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

function accessTo(fs: FileSystem, paths: readonly string[] | undefined): readonly AccessRequest[] {
  return (paths === undefined || paths.length === 0 ? ["."] : paths).map((path) => {
    try {
      const relative = fs.resolve(path.trim() === "" ? "." : path.trim());
      const root = fs.root.endsWith("/") ? fs.root.slice(0, -1) : fs.root;
      return { action: "read", target: relative === "." ? fs.root : `${root}/${relative}` };
    } catch (error) {
      if (isFsError(error)) return { action: "read", target: path }; // refused when the call runs
      throw error;
    }
  });
}
