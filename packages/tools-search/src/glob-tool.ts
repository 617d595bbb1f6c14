import { type FileSystem, quote } from "@shedkit/fs";
import { defineTool, ToolCallResult, type TypedTool, type TypedToolContext } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { Clock } from "./clock.js";
import { filesBelow } from "./files.js";
import { find } from "./find.js";
import type { FileFinder } from "./finder.js";
import { globOf, relativeTo } from "./glob.js";
import { accessTo, placeOf } from "./places.js";
import { plural, shownPath } from "./text.js";

/** The arguments of `glob`. */
export interface GlobInput {
  /** e.g. `*.ts`, `src/**` + `/*.{js,ts}`. */
  pattern: string;
  /** The folder to look in. Default: the root folder. */
  path?: string | undefined;
}

/** What `glob` gives beside its text. */
export interface GlobOutput {
  /** The newest first. */
  paths: string[];
  /** True where there are more. */
  truncated: boolean;
}

/** Settings of `glob`. */
export interface GlobParams {
  /** How many paths are shown. Default: 100. */
  limit: number;
  /** Also names that begin with a dot, `.git` aside. Default: true. */
  hidden: boolean;
  /** How long it may take, in milliseconds; then what was found is shown. Default: 20,000. */
  timeoutMs: number;
}

/** What it may use besides the file system. */
export interface GlobOptions extends Partial<GlobParams> {
  /** Lists files faster, where there is one: `ripgrep(...)` of `@shedkit/tools-search/node`. */
  finder?: FileFinder | undefined;
}

const Input = Type.Object(
  {
    pattern: Type.String({
      minLength: 1,
      maxLength: 1000,
      description: "e.g. *.ts (in any folder), src/*.ts, or src/**/*.{js,ts}.",
    }),
    path: Type.Optional(Type.String({ description: "The folder to look in. Default: the root folder." })),
  },
  { additionalProperties: false },
);

const Output = Type.Object({ paths: Type.Array(Type.String()), truncated: Type.Boolean() });

const Params = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 10_000 }),
    hidden: Type.Boolean(),
    timeoutMs: Type.Integer({ minimum: 1, maximum: 100_000 }),
  },
  { additionalProperties: false },
);

/** Finds files by a pattern of their paths, the newest first. */
export function globTool(fs: FileSystem, { finder, ...params }: GlobOptions = {}): TypedTool<GlobInput, GlobOutput> {
  return defineTool({
    id: "glob",
    namespace: "search",
    kind: "search",
    category: "search_files",
    description: "Find files by a pattern of their paths.\nThe newest come first. What ignore files name is left out.",
    input: Input,
    output: Output,
    params: { schema: Params, defaults: { limit: 100, hidden: true, timeoutMs: 20_000, ...params } },
    access: ({ path }) => accessTo(fs, path === undefined ? undefined : [path]),
    run: (input, ctx) => glob(fs, finder, input, ctx),
  });
}

async function glob(
  fs: FileSystem,
  finder: FileFinder | undefined,
  { pattern, path = "." }: GlobInput,
  ctx: TypedToolContext<GlobParams, undefined>,
): Promise<ToolCallResult> {
  const wanted = pattern.trim();
  if (wanted === "") return ToolCallResult.failure("no pattern", `${ctx.names.param("pattern")} is empty.`);
  const place = await placeOf(fs, path, "path", ctx);
  if (ToolCallResult.is(place)) return place;
  if (!place.isFolder) {
    const text = `${quote(place.path)} is a file. Give the folder to look in as ${ctx.names.param("path")}.`;
    return ToolCallResult.failure(`not a folder: ${quote(place.path)}`, text);
  }
  const { limit, hidden, timeoutMs } = ctx.params;
  const clock = new Clock(timeoutMs, ctx.signal);
  const fits = globOf(relativeTo(fs, wanted, place.path));
  const below = filesBelow(fs, finder, { folders: [place.path], hidden, clock, signal: ctx.signal });
  const found = await find(fs, below, (file) => (fits(inside(file, place.path)) ? 1 : 0), {
    limit,
    newest: true,
    clock,
    signal: ctx.signal,
  });
  const late = found.stopped !== undefined;
  const notes: string[] = [];
  if (found.more > 0) notes.push(`${plural(found.more, "more file")} not shown. Give a narrower pattern, or a folder.`);
  if (late) notes.push(`It was stopped after ${timeoutMs / 1000} s: this is what was found until then.`);
  const head =
    found.paths.length === 0 ? `No file fits ${JSON.stringify(wanted)}.` : found.paths.map(shownPath).join("\n");
  const text = notes.length === 0 ? head : `${head}\n\n[${notes.join(" ")}]`;
  const output: GlobOutput = { paths: found.paths, truncated: found.more > 0 || late };
  return new ToolCallResult([{ type: "text", text }], { output: { ...output } });
}

function inside(file: string, folder: string): string {
  return folder === "." ? file : file.slice(folder.length + 1);
}
