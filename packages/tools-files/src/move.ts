import { cleanPath, type FileSystem, isFsError, nameOf, parentOf, quote } from "@shedkit/fs";
import { defineTool, ToolCallResult, type ToolContext, type TypedTool } from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import { announce, FILE_CHANGED } from "./announce.js";
import { keyOf, lockingAll } from "./draft.js";
import { answering, assertNotElsewhere, Failure } from "./failure.js";
import { assertNotIgnored } from "./ignored.js";
import { assertNothingIgnored } from "./ignored-inside.js";
import { placeOf } from "./locate.js";
import { accessTo, touching } from "./paths.js";
import { assertUnchanged, seenFiles } from "./seen.js";

/** The arguments of `move`. */
export interface MoveInput {
  from: string;
  /** The new path itself, not the folder to put it in. */
  to: string;
  /** Replaces a file at the new path. Default: false. */
  overwrite?: boolean | undefined;
}

/** What `move` gives beside its text. */
export interface MoveOutput {
  from: string;
  to: string;
}

/** Settings of `move`. */
export interface MoveParams {
  /**
   * Refuses what a `.gitignore` in the root folder or below names, what is in such a folder, and folders with such things in
   * them; as the new path, too. Default: false.
   */
  gitignore: boolean;
}

const DEFAULTS: MoveParams = { gitignore: false };

const Input = Type.Object(
  {
    from: Type.String({ description: "The file or folder, relative to the root folder." }),
    to: Type.String({ description: "Its new path, name included. Missing folders are made." }),
    overwrite: Type.Optional(Type.Boolean({ description: "Replace a file at the new path.", default: false })),
  },
  { additionalProperties: false },
);

const Output = Type.Object({ from: Type.String(), to: Type.String() });

const Params = Type.Object({ gitignore: Type.Boolean() }, { additionalProperties: false });

/** Moves or renames a file or a folder. */
export function moveTool(fs: FileSystem, params: Partial<MoveParams> = {}): TypedTool<MoveInput, MoveOutput> {
  return defineTool({
    id: "move",
    namespace: "files",
    kind: "move",
    description: "Move or rename a file or a folder.",
    input: Input,
    output: Output,
    params: { schema: Params, defaults: { ...DEFAULTS, ...params } },
    notifications: [FILE_CHANGED],
    capabilities: {
      destructive: false,
      touches: (args) => [...touching(fs, args.from), ...touching(fs, args.to)],
    },
    access: (input) => [...accessTo(fs, "write", input.from), ...accessTo(fs, "write", input.to)],
    run: (input, ctx) => answering(fs, ctx, () => move(fs, input, ctx)),
  });
}

async function move(
  fs: FileSystem,
  input: MoveInput,
  ctx: ToolContext & { params: MoveParams },
): Promise<ToolCallResult> {
  const { signal } = ctx;
  assertNotElsewhere(input.to);
  const to = fs.resolve(cleanPath(input.to));
  return lockingAll(fs, [input.from, to], ctx, async () => {
    const place = await placeOf(fs, cleanPath(input.from), signal);
    const { type } = await fs.lstat(place, { signal });
    const isFolder = type === "directory";
    await assertNotIgnored(fs, place, ctx, isFolder);
    await assertNotIgnored(fs, to, ctx, isFolder);
    if (isFolder) await assertNothingIgnored(fs, place, ctx);
    const link = type === "symlink";
    const key = link ? place : await keyOf(fs, place, ctx);
    const replaced = input.overwrite ? await fileAt(fs, to, signal) : undefined;
    // A file's own name in other letters, where these are the same to the file system, replaces nothing.
    if (replaced !== undefined && replaced !== key) await assertUnchanged(fs, to, replaced, ctx);
    await fs.mkdir(parentOf(to), { recursive: true, signal });
    try {
      await fs.rename(place, to, { overwrite: input.overwrite ?? false, signal });
    } catch (error) {
      if (!isFsError(error, "exists")) throw error;
      throw new Failure(`exists: ${quote(to)}`, await existsText(fs, nameOf(place), to, ctx));
    }
    const seen = seenFiles(fs, ctx);
    if (replaced !== undefined && replaced !== key) seen.delete(replaced);
    const moved = link ? to : await fs.realpath(to, { signal });
    for (const [known, what] of link ? [] : seen.below(key)) {
      const path = moved + known.slice(key.length);
      seen.delete(known);
      seen.set(path, { ...what, version: (await fs.stat(path, { signal })).version });
    }
    announce(ctx, { path: to, change: "moved", from: place });
    const output: MoveOutput = { from: place, to };
    return new ToolCallResult([{ type: "text", text: `Moved ${quote(place)} to ${quote(to)}.` }], {
      output: { ...output },
    });
  });
}

/** The canonical path of a file that is there; nothing for anything else. */
async function fileAt(fs: FileSystem, path: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { type } = await fs.lstat(path, { signal });
    return type === "file" ? await fs.realpath(path, { signal }) : undefined;
  } catch (error) {
    if (isFsError(error, "notFound") || isFsError(error, "notADirectory")) return undefined;
    throw error;
  }
}

async function existsText(fs: FileSystem, name: string, to: string, ctx: ToolContext): Promise<string> {
  const { type } = await fs.lstat(to, { signal: ctx.signal });
  if (type === "directory") {
    const inside = to === "." ? name : `${to}/${name}`;
    return `${quote(to)} is a folder. To move something into it, give its whole new path, e.g. ${quote(inside)}.`;
  }
  return `${quote(to)} exists already. Choose another path, or set ${ctx.names.param("overwrite")} to true to replace it.`;
}
