import type { FileSystem } from "@shedkit/fs";
import { defineTool, type Progress, ToolCallResult, type ToolContext, ToolError, type TypedTool } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { Clock } from "./clock.js";
import { FILE_TYPES, fileTypeOf } from "./file-types.js";
import { filesBelow } from "./files.js";
import { find, scoreOf } from "./find.js";
import type { FileFinder } from "./finder.js";
import { filterOf, isGlob } from "./glob.js";
import { type FoundFile, grep, type LineForm } from "./grep.js";
import { matcherOf, spansOf } from "./pattern.js";
import { accessTo, placeOf } from "./places.js";
import { TextQueue } from "./queue.js";
import { block, limitOf, type OutputMode, parting, showFiles, showLines, tallyOf } from "./show.js";

/** What is looked for: lines, files, or lines with one of several patterns. Small letters are taken too. */
export type SearchKind = "Grep" | "Find" | "MultiGrep" | "grep" | "find" | "multi_grep";

/** The arguments of `search_file`. */
export interface SearchFileInput {
  /** A regular expression; of `Find` words or a glob; of `MultiGrep` one expression a line. */
  query: string;
  /** Default: `Grep`. */
  kind?: SearchKind | undefined;
  /** Files and folders. Default: the root folder. */
  paths?: string[] | undefined;
  /** Only files whose paths fit, e.g. `*.ts`. */
  glob?: string | undefined;
  /** Only files of a kind, as ripgrep's `--type` names it, e.g. `ts`, `py`, `rust`. */
  type?: string | undefined;
  ignore_case?: boolean | undefined;
  /** Of `Grep`: matches may go over several lines, `.` takes line ends too. Default: false. */
  multiline?: boolean | undefined;
  /** Lines shown before and after each match. Default: 0. */
  context?: number | undefined;
  /** Of `Grep` and `MultiGrep`: the lines, the files that have some, or how many each has. Default: `content`. */
  output_mode?: OutputMode | undefined;
  /** Default: 200 lines; 500 files with matches; 100 files by path. At most 2000 lines, 10,000 files. */
  limit?: number | undefined;
  /** Also names that begin with a dot. Default: false. */
  hidden?: boolean | undefined;
}

/** What `search_file` gives beside its text. */
export interface SearchFileOutput {
  matches: {
    path: string;
    line_number?: number | undefined;
    content?: string | undefined;
    /** Matching lines in the file, where these were asked for. */
    count?: number | undefined;
  }[];
  /** True where something is left out. */
  truncated: boolean;
}

/** Settings of `search_file`. */
export interface SearchFileParams {
  /** How long a search may take, in milliseconds; then what was found is shown. Default: 20,000. */
  timeoutMs: number;
  /** Files that are larger are not looked into, in bytes. Default: 16 MiB. */
  maxFileBytes: number;
  /** Passes lines on while it searches, as progress: in all what the result shows of them. Default: false. */
  stream: boolean;
}

/** What a search may use besides the file system. */
export interface SearchFileOptions extends Partial<SearchFileParams> {
  /** Lists files faster, where there is one: `ripgrep(...)` of `@shedkit/tools-search/node`. */
  finder?: FileFinder | undefined;
}

const MAX_MULTILINE = 1024 * 1024; // of a file, in bytes: it is looked through at once
const MOST_COUNTED = 10_000;
const MAX_QUERY = 10_000;
const MAX_PIECE = 16 * 1024; // characters

const MODES = ["content", "files_with_matches", "count"] as const;
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
      Type.Integer({ minimum: 1, description: "How many are shown. Default: 200 lines; of Find 100 files, else 500." }),
    ),
    hidden: Type.Optional(Type.Boolean({ description: "Also names that begin with a dot.", default: false })),
    output_mode: Type.Optional(
      Type.Union(
        MODES.map((mode) => Type.Literal(mode)),
        { description: "Show lines, the files that have some, or how many each file has.", default: "content" },
      ),
    ),
    type: Type.Optional(
      Type.String({ description: "Only files of a kind, by ripgrep's names: ts, js, py, rust, go, md ..." }),
    ),
  },
  { additionalProperties: false },
);

const Output = Type.Object({
  matches: Type.Array(
    Type.Object({
      path: Type.String(),
      line_number: Type.Optional(Type.Integer()),
      content: Type.Optional(Type.String()),
      count: Type.Optional(Type.Integer()),
    }),
  ),
  truncated: Type.Boolean(),
});

const Params = Type.Object(
  {
    timeoutMs: Type.Integer({ minimum: 1, maximum: 100_000 }),
    maxFileBytes: Type.Integer({ minimum: 1 }),
    stream: Type.Boolean(),
  },
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
    description: (ctx) => {
      const said = ctx.tool("memorySearch", "search_context");
      const about =
        "Search files: their lines by a regular expression, or their paths.\nWhat ignore files name is left out.";
      return said === undefined ? about : `${about} For what was said earlier in this conversation use ${said}.`;
    },
    input: Input,
    output: Output,
    params: {
      schema: Params,
      defaults: { timeoutMs: 20_000, maxFileBytes: 16 * 1024 * 1024, stream: false, ...params },
    },
    // The tool keeps to its own limits, and its notes at the end must stay.
    capabilities: { maxResultBytes: 400_000 },
    access: ({ paths }) => accessTo(fs, paths),
    execute: (input, ctx) => searching(fs, finder, input, ctx),
  });
}

/** Of a search. */
export type Context = ToolContext & { params: Pick<SearchFileParams, "timeoutMs" | "maxFileBytes"> };

async function* searching(
  fs: FileSystem,
  finder: FileFinder | undefined,
  input: SearchFileInput,
  ctx: ToolContext & { params: SearchFileParams },
): AsyncGenerator<Progress, ToolCallResult, void> {
  if (!ctx.params.stream) return await searchFiles(fs, finder, input, ctx);
  const queue = new TextQueue();
  let begun = false;
  const onFile = (file: FoundFile) => {
    queue.push(`${begun ? parting(input) : ""}${block(file, input)}`);
    begun = true;
  };
  const done = searchFiles(fs, finder, input, ctx, { onFile }).finally(() => queue.close());
  done.catch(() => {}); // where nobody reads to the end
  for await (const text of queue.pieces(MAX_PIECE)) yield { text };
  return await done;
}

/** Searches as `search_file` does. With a `form` lines are told in it, and each match has an `anchor`. */
export async function searchFiles(
  fs: FileSystem,
  finder: FileFinder | undefined,
  input: SearchFileInput,
  ctx: Context,
  { onFile, form }: { onFile?: (file: FoundFile) => void; form?: LineForm } = {},
): Promise<ToolCallResult> {
  if (input.query.trim() === "") {
    throw new ToolError("invalidArguments", ctx.names.tool, `${ctx.names.param("query")} is empty.`);
  }
  const kind = (input.kind ?? "Grep").toLowerCase().replace("_", "");
  const places = await placesOf(fs, input.paths, ctx);
  if (ToolCallResult.is(places)) return places;
  const clock = new Clock(ctx.params.timeoutMs, ctx.signal);
  const limit = limitOf(input, kind === "find");
  if (kind === "find") {
    const paths = filesOf(fs, finder, places, input, [], clock, ctx);
    const query = input.query.trim();
    const found = await find(fs, paths, scoreOf(query), { limit, newest: isGlob(query), clock, signal: ctx.signal });
    return showFiles(found.paths, found.more, found.stopped !== undefined, input, ctx);
  }
  const queries = kind === "multigrep" ? input.query.split(/\r?\n/).filter((line) => line !== "") : [input.query];
  const ignoreCase = input.ignore_case ?? false;
  const many = kind === "grep" && input.multiline === true;
  const matchers = many ? [] : queries.map((query) => compile(() => matcherOf(query, ignoreCase), ctx));
  const spans = many ? compile(() => spansOf(input.query, ignoreCase), ctx) : undefined;
  const required = matchers.flatMap(({ required }) => required ?? []);
  const texts = many || required.length < matchers.length ? [] : required;
  let any = false;
  const paths = passing(filesOf(fs, finder, places, input, texts, clock, ctx), () => {
    any = true;
  });
  const maxBytes = many ? Math.min(ctx.params.maxFileBytes, MAX_MULTILINE) : ctx.params.maxFileBytes;
  const found = await grep(fs, paths, {
    ...{ matchers, spans, texts, ignoreCase, limit, maxBytes, clock, form },
    context: input.context ?? 0,
    tally: tallyOf(input.output_mode),
    countTo: MOST_COUNTED,
    signal: ctx.signal,
    onFile,
  });
  // A finder leaves out files in which there can be no match.
  const unlisted = !any && found.stopped === undefined && texts.length > 0 && finder !== undefined;
  if (unlisted && (input.glob ?? input.type) !== undefined)
    any = (await filesOf(fs, finder, places, input, [], clock, ctx).next()).done !== true;
  return showLines(found, { maxBytes, form, noFile: !any && found.stopped === undefined && !clock.cut }, input, ctx);
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
    const place = await placeOf(fs, given, "paths", ctx);
    if (ToolCallResult.is(place)) return place;
    (place.isFolder ? places.folders : places.files).push(place.path);
  }
  return places;
}

async function* filesOf(
  fs: FileSystem,
  finder: FileFinder | undefined,
  { files, folders }: Places,
  { glob, type, hidden = false, ignore_case = false }: SearchFileInput,
  texts: readonly string[],
  clock: Clock,
  ctx: Context,
): AsyncGenerator<string, void, void> {
  const wanted = glob?.trim() ?? "";
  const named = wanted === "" ? () => true : filterOf(fs, wanted);
  const ofType = typeFilter(type, ctx);
  for (const path of new Set(files)) yield path;
  const request = { folders, hidden, texts, ignoreCase: ignore_case, clock, signal: ctx.signal };
  for await (const path of filesBelow(fs, finder, request)) {
    if (named(path) && ofType(path) && !files.includes(path)) yield path;
  }
}

/** The same paths; tells when the first comes. */
async function* passing(paths: AsyncIterable<string>, onFirst: () => void): AsyncGenerator<string, void, void> {
  let first = true;
  for await (const path of paths) {
    if (first) onFirst();
    first = false;
    yield path;
  }
}

function typeFilter(type: string | undefined, ctx: Context): (path: string) => boolean {
  const name = type?.trim() ?? "";
  if (name === "") return () => true;
  const fits = fileTypeOf(name);
  if (fits) return fits;
  const { param } = ctx.names;
  const text =
    `${param("type")} ${JSON.stringify(name)} is not known. Known are: ${FILE_TYPES.join(", ")}. ` +
    `For other files give ${param("glob")}, e.g. *.ext.`;
  throw new ToolError("invalidArguments", ctx.names.tool, text);
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
