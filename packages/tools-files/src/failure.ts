import { cleanPath, type FileSystem, isFsError, quote, startsAtHome } from "@shedkit/fs";
import { ToolCallResult, type ToolContext, ToolError, type ToolKind } from "@shedkit/tool";
import { insideLike, notFoundText } from "./locate.js";
import { GAP_TEXT, hasGap } from "./text/data-uri.js";

/** A call that failed as calls may: `detail` in a few words, `text` for the model. */
export class Failure extends Error {
  readonly detail: string;

  constructor(detail: string, text: string) {
    super(text);
    this.detail = detail;
  }
}

/**
 * Runs a tool's body. What a model can mend (no such file, a folder where a file is wanted) becomes a failed result with
 * a text that says how; what it may not do, and faults of the machine, become ToolErrors.
 */
export async function answering(
  fs: FileSystem,
  ctx: ToolContext,
  body: () => Promise<ToolCallResult>,
): Promise<ToolCallResult> {
  try {
    return await body();
  } catch (error) {
    if (error instanceof Failure) return ToolCallResult.failure(error.detail, error.message);
    if (!isFsError(error)) throw error;
    const tool = ctx.names.tool;
    const { reason, path } = error.details;
    switch (reason) {
      case "notFound": {
        const linked = error.message.includes("symbolic link");
        const text = linked ? error.message : await notFoundText(fs, path, ctx.signal);
        return ToolCallResult.failure(`no such file: ${quote(path)}`, text);
      }
      case "outside": {
        const inside = await insideLike(fs, path, ctx.signal);
        const hint = inside === undefined ? "" : ` Did you mean ${quote(inside)}?`;
        throw new ToolError("permissionDenied", tool, error.message + hint, { cause: error });
      }
      case "permission":
        throw new ToolError("permissionDenied", tool, error.message, { cause: error });
      case "io":
      case "noSpace":
        throw new ToolError("execution", tool, error.message, { cause: error });
      case "changed":
        return ToolCallResult.failure(`changed meanwhile: ${quote(path)}`, staleText(path, ctx));
      default:
        return ToolCallResult.failure(`${reason}: ${quote(path)}`, error.message);
    }
  }
}

/** `changes`: a diff of what something else changed, or nothing. */
export function stale(path: string, ctx: ToolContext, changes = ""): Failure {
  const text = changes === "" ? staleText(path, ctx) : `${staleText(path, ctx)} What was changed:\n${changes}`;
  return new Failure(`changed since it was read: ${quote(path)}`, text);
}

export function unread(path: string, ctx: ToolContext): Failure {
  return new Failure(
    `not read yet: ${quote(path)}`,
    `${quote(path)} has not been read yet. Nothing was written. Read it first${by("read", ctx)}, then make the change.`,
  );
}

/** Throws Failure for the path of a new file that ends as that of a folder. */
export function assertNotFolder(path: string): void {
  assertNotElsewhere(path);
  if (!/\/\s*$/.test(path)) return;
  throw new Failure(`a folder: ${quote(path)}`, `${quote(path)} names a folder. Give the path of a file.`);
}

/** Throws Failure for a new path in `~`, a folder of whose name is a trap for whoever removes it, and for a URL. */
export function assertNotElsewhere(path: string): void {
  if (startsAtHome(path)) {
    const text = `${quote(path)} is in the home folder, which is not reached by ~ here. Give a path relative to the root folder.`;
    throw new Failure(`home folder: ${quote(path)}`, text);
  }
  if (!/^(?:file|https?|ftp):\/\//i.test(cleanPath(path))) return;
  throw new Failure(`a URL: ${quote(path)}`, `${quote(path)} is a URL. Give a path relative to the root folder.`);
}

/** Throws Failure for a new text that has, in the place of data, what is shown there: the data would be lost. */
export function assertNoGap(text: string, param: string): void {
  if (!hasGap(text)) return;
  const advice = "Nothing was written. Change only what stands before or after it.";
  throw new Failure("data left out", `In ${param} ${GAP_TEXT} ${advice}`);
}

/** ` with NAME`: the tool of a kind that the model can do it with, by its name, where there is one. */
export function by(kind: ToolKind, { names }: ToolContext): string {
  const tool = names.toolOf(kind);
  return tool === undefined ? "" : ` with ${tool}`;
}

function staleText(path: string, ctx: ToolContext): string {
  return (
    `${quote(path)} was changed by something else since you last read or wrote it. Nothing was written. ` +
    `Read it again${by("read", ctx)}, then make the change on what it says now.`
  );
}
