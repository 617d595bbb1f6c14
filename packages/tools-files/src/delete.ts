import { type FileSystem, quote } from "@shedkit/fs";
import { defineTool, ToolCallResult, type ToolContext, type TypedTool } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { announce, FILE_CHANGED } from "./announce.js";
import { answering, Failure } from "./failure.js";
import { cleanPath } from "./locate.js";
import { exclusively } from "./lock.js";
import { accessTo, touchesPath } from "./paths.js";
import { assertFresh, seenFiles } from "./seen.js";
import { fingerprint, MAX_FINGERPRINTED } from "./text/hash.js";

export interface DeleteInput {
  path: string;
  /** Also a folder that is not empty, with all in it. Default: false. */
  recursive?: boolean | undefined;
}

export interface DeleteOutput {
  path: string;
  /** What was deleted; of a link the link itself. */
  type: string;
}

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

/** Deletes a file or a folder. */
export function deleteTool(fs: FileSystem): TypedTool<DeleteInput, DeleteOutput> {
  return defineTool({
    id: "delete",
    namespace: "files",
    kind: "delete",
    description: "Delete a file or a folder.\nThis cannot be undone.",
    input: Input,
    output: Output,
    notifications: [FILE_CHANGED],
    capabilities: { touches: touchesPath(fs) },
    access: (input) => accessTo(fs, "write", input.path),
    run: (input, ctx) => answering(fs, ctx, () => remove(fs, input, ctx)),
  });
}

async function remove(fs: FileSystem, input: DeleteInput, ctx: ToolContext): Promise<ToolCallResult> {
  const { signal } = ctx;
  const path = fs.resolve(cleanPath(input.path));
  const { type } = await fs.lstat(path, { signal });
  const real = type === "symlink" ? path : await fs.realpath(path, { signal });
  return exclusively(fs, real, signal, async () => {
    const stat = await fs.lstat(path, { signal });
    const seen = seenFiles(fs, ctx);
    if (stat.type === "file") {
      const bytes = stat.size > MAX_FINGERPRINTED ? undefined : await fs.readFile(path, { signal });
      assertFresh(path, seen.get(real), stat, bytes && { bytes, fingerprint: fingerprint(bytes) }, ctx);
    }
    const entries = stat.type === "directory" ? await fs.readdir(path, { signal }) : [];
    if (entries.length > 0 && !input.recursive) {
      const text = `${quote(path)} is not empty. Set ${ctx.names.param("recursive")} to true to delete all that is in it.`;
      throw new Failure(`not empty: ${quote(path)}`, text);
    }
    await fs.remove(path, { recursive: input.recursive ?? false, signal });
    announce(ctx, { path, change: "removed" });
    for (const [known] of seen.below(real)) seen.delete(known);
    const output: DeleteOutput = { path, type: stat.type };
    const what = stat.type === "directory" ? "the folder " : stat.type === "symlink" ? "the link " : "";
    return new ToolCallResult([{ type: "text", text: `Deleted ${what}${quote(path)}.` }], { output: { ...output } });
  });
}
