import { cleanPath, type FileSystem, locate, quote } from "@shedkit/fs";
import { defineTool, ToolCallResult, type ToolContext, type TypedTool } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { answering, by, Failure } from "./failure.js";
import { renderTree } from "./list/render.js";
import { walkFolder } from "./list/walk.js";
import { accessTo, touching } from "./paths.js";
import { count, plural } from "./text/format.js";

/** The arguments of `list`. */
export interface ListInput {
  /** Default: the root folder. */
  path?: string | undefined;
  /** How many levels down. Default: as many as fit. */
  depth?: number | undefined;
  /** Also entries whose names begin with a dot. Default: false. */
  hidden?: boolean | undefined;
}

/** What `list` gives beside its text. */
export interface ListOutput {
  path: string;
  /** The folder's own entries, sorted by name: of more than a thousand those that are shown, at least the first thousand. */
  entries: { name: string; type: string }[];
}

/** Settings of `list`. */
export interface ListParams {
  /** How long the tree may be, in characters; roughly. Default: 10,000. */
  maxChars: number;
  /** Leaves out what the `.gitignore` files in the root folder and below ignore. Default: true. */
  gitignore: boolean;
}

const DEFAULTS: ListParams = { maxChars: 10_000, gitignore: true };

const MOST_ENTRIES = 1000;

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

const Params = Type.Object(
  { maxChars: Type.Integer({ minimum: 100 }), gitignore: Type.Boolean() },
  { additionalProperties: false },
);

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
    const text = `${quote(path)} is a file, not a folder. Read it${by("read", ctx)} instead.`;
    throw new Failure(`not a folder: ${quote(path)}`, text);
  }
  const { hidden = false, depth = Number.POSITIVE_INFINITY } = input;
  const { gitignore, maxChars } = ctx.params;
  const root = await walkFolder(fs, path, { hidden, gitignore, depth, signal: ctx.signal });
  const { text, shown: fitting } = renderTree(root, maxChars);
  const own = root.entries?.length ?? 0;
  const notes: string[] = [];
  if (own === 0)
    notes.push(root.hidden + root.ignored === 0 ? "The folder is empty." : "Nothing else is in the folder.");
  if (fitting < own) notes.push(`Not all of its ${count(own)} entries fit.`);
  if (root.hidden > 0) {
    const names = root.hidden === 1 ? "1 name that begins" : `${count(root.hidden)} names that begin`;
    notes.push(`${names} with a dot not shown; set ${ctx.names.param("hidden")} to true to see.`);
  }
  if (root.ignored > 0) notes.push(`${plural(root.ignored, "name")} not shown that .gitignore names.`);
  const shown = notes.length === 0 ? text : `${text}\n\n[${notes.join(" ")}]`;
  const told = root.entries?.slice(0, Math.max(fitting, MOST_ENTRIES)) ?? [];
  const entries = told.map(({ name, type }) => ({ name, type }));
  return new ToolCallResult([{ type: "text", text: shown }], { output: { path, entries } });
}
