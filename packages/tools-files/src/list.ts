import { type FileSystem, quote } from "@shedkit/fs";
import { defineTool, ToolCallResult, type ToolContext, type TypedTool } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { answering, Failure } from "./failure.js";
import { renderTree } from "./list/render.js";
import { type Entry, walkFolder } from "./list/walk.js";
import { cleanPath, locate } from "./locate.js";
import { accessTo, touching } from "./paths.js";
import { plural } from "./text/format.js";

export interface ListInput {
  /** Default: the root folder. */
  path?: string | undefined;
  /** How many levels down. Default: as many as fit. */
  depth?: number | undefined;
  /** Also entries whose names begin with a dot. Default: false. */
  hidden?: boolean | undefined;
}

export interface ListOutput {
  path: string;
  /** The folder's own entries, sorted by name. */
  entries: { name: string; type: string }[];
}

/** Settings of `list`. */
export interface ListParams {
  /** How long the tree may be, in characters; roughly. Default: 10,000. */
  maxChars: number;
}

const DEFAULTS: ListParams = { maxChars: 10_000 };

const Input = Type.Object(
  {
    path: Type.Optional(Type.String({ description: "The folder. Default: the root folder." })),
    depth: Type.Optional(Type.Integer({ minimum: 1, description: "How many levels down. Default: as many as fit." })),
    hidden: Type.Optional(Type.Boolean({ description: "Also names that begin with a dot.", default: false })),
  },
  { additionalProperties: false },
);

const Output = Type.Object({
  path: Type.String(),
  entries: Type.Array(Type.Object({ name: Type.String(), type: Type.String() })),
});

const Params = Type.Object({ maxChars: Type.Integer({ minimum: 100 }) }, { additionalProperties: false });

/** Lists the files of a folder and of the folders in it. */
export function listTool(fs: FileSystem, params: Partial<ListParams> = {}): TypedTool<ListInput, ListOutput> {
  return defineTool({
    id: "list",
    namespace: "files",
    kind: "listDir",
    category: "list",
    description: "List the files of a folder.\nShows a tree, as deep as fits; folders that are too big are summed up.",
    input: Input,
    output: Output,
    params: { schema: Params, defaults: { ...DEFAULTS, ...params } },
    capabilities: { touches: (args) => touching(fs, args.path ?? ".") },
    access: (input) => accessTo(fs, "read", input.path ?? "."),
    run: (input, ctx) => answering(fs, ctx, () => list(fs, input, ctx)),
  });
}

async function list(
  fs: FileSystem,
  input: ListInput,
  ctx: ToolContext & { params: ListParams },
): Promise<ToolCallResult> {
  const { path, stat } = await locate(fs, cleanPath(input.path ?? "."), ctx.signal);
  if (stat.type !== "directory") {
    throw new Failure(`not a folder: ${quote(path)}`, `${quote(path)} is a file, not a folder. Read it instead.`);
  }
  const { hidden = false, depth = Number.POSITIVE_INFINITY } = input;
  const root = await walkFolder(fs, path, { hidden, depth, signal: ctx.signal });
  const { text, cut } = renderTree(root, ctx.params.maxChars);
  const notes: string[] = [];
  if (root.entries?.length === 0) notes.push("The folder is empty.");
  if (cut) notes.push(`Not all of its ${plural(root.entries?.length ?? 0, "entry").replace("entrys", "entries")} fit.`);
  const skipped = root.hidden === 0 ? "" : hiddenNote(root, ctx);
  if (skipped !== "") notes.push(skipped);
  const shown = notes.length === 0 ? text : `${text}\n\n[${notes.join(" ")}]`;
  const entries = (root.entries ?? []).map(({ name, type }) => ({ name, type }));
  return new ToolCallResult([{ type: "text", text: shown }], { output: { path, entries } });
}

function hiddenNote(root: Entry, ctx: ToolContext): string {
  const names = root.hidden === 1 ? "1 name that begins" : `${root.hidden} names that begin`;
  return `${names} with a dot not shown; set ${ctx.names.param("hidden")} to true to see.`;
}
