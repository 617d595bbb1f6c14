import { cleanPath, type FileSystem, quote } from "@shedkit/fs";
import { defineTool, ToolCallResult, type ToolContext, type TypedTool } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { announce, FILE_CHANGED } from "./announce.js";
import { answering, Failure } from "./failure.js";
import { assertNotIgnored } from "./ignored.js";
import { assertNothingIgnored } from "./ignored-inside.js";
import { placeOf } from "./locate.js";
import { exclusively } from "./lock.js";
import { accessTo, touchesPath } from "./paths.js";
import { assertUnchanged, seenFiles } from "./seen.js";

/** The arguments of `delete`. */
export interface DeleteInput {
  path: string;
  /** Also a folder that is not empty, with all in it. Default: false. */
  recursive?: boolean | undefined;
}

/** What `delete` gives beside its text. */
export interface DeleteOutput {
  path: string;
  /** What was deleted; of a link the link itself. */
  type: string;
}

/** Settings of `delete`. */
export interface DeleteParams {
  /**
   * Refuses what a `.gitignore` in the root folder or below names, what is in such a folder, and folders with such things in
   * them. Default: false.
   */
  gitignore: boolean;
}

const DEFAULTS: DeleteParams = { gitignore: false };

const Input = Type.Object(
  {
    path: Type.String({ description: "The file or folder, relative to the root folder." }),
    recursive: Type.Optional(
      Type.Boolean({ description: "Also a folder that is not empty, with all in it.", default: false }),
    ),
  },
  { additionalProperties: false },
);

const Output = Type.Object({ path: Type.String(), type: Type.String() });

const Params = Type.Object({ gitignore: Type.Boolean() }, { additionalProperties: false });

/** Deletes a file or a folder. */
export function deleteTool(fs: FileSystem, params: Partial<DeleteParams> = {}): TypedTool<DeleteInput, DeleteOutput> {
  return defineTool({
    id: "delete",
    namespace: "files",
    kind: "delete",
    description: "Delete a file or a folder.\nThis cannot be undone.",
    input: Input,
    output: Output,
    params: { schema: Params, defaults: { ...DEFAULTS, ...params } },
    notifications: [FILE_CHANGED],
    capabilities: { touches: touchesPath(fs) },
    access: (input) => accessTo(fs, "write", input.path),
    run: (input, ctx) => answering(fs, ctx, () => remove(fs, input, ctx)),
  });
}

async function remove(
  fs: FileSystem,
  input: DeleteInput,
  ctx: ToolContext & { params: DeleteParams },
): Promise<ToolCallResult> {
  const { signal } = ctx;
  const path = await placeOf(fs, cleanPath(input.path), signal);
  const { type } = await fs.lstat(path, { signal });
  await assertNotIgnored(fs, path, ctx, type === "directory");
  if (type === "directory") await assertNothingIgnored(fs, path, ctx);
  const real = type === "symlink" ? path : await fs.realpath(path, { signal });
  return exclusively(fs, real, signal, async () => {
    const stat = await fs.lstat(path, { signal });
    await assertUnchanged(fs, path, real, ctx);
    const entries = stat.type === "directory" ? await fs.readdir(path, { signal }) : [];
    if (entries.length > 0 && !input.recursive) {
      const text = `${quote(path)} is not empty. Set ${ctx.names.param("recursive")} to true to delete all that is in it.`;
      throw new Failure(`not empty: ${quote(path)}`, text);
    }
    await fs.remove(path, { recursive: input.recursive ?? false, signal });
    announce(ctx, { path, change: "removed" });
    const seen = seenFiles(fs, ctx);
    for (const [known] of seen.below(real)) seen.delete(known);
    const output: DeleteOutput = { path, type: stat.type };
    const what = stat.type === "directory" ? "the folder " : stat.type === "symlink" ? "the link " : "";
    return new ToolCallResult([{ type: "text", text: `Deleted ${what}${quote(path)}.` }], { output: { ...output } });
  });
}
