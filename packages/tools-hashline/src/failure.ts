import { type FileSystem, isFsError, quote } from "@shedkit/fs";
import { type ToolCallResult, type ToolContext, ToolError } from "@shedkit/tool";
import { answering, Failure, notFoundText } from "@shedkit/tools-files/internals";

/** What a call failed by: the `errorDetail` of its result, and what the model reads, begin with it. */
export type HashlineErrorKind =
  | "AnchorStale"
  | "AmbiguousAnchor"
  | "AnchorNotFound"
  | "FileNotFound"
  | "OverlappingEdits"
  | "InvalidInput"
  | "IoError";

/** A call that failed as calls may. */
export function failure(kind: HashlineErrorKind, detail: string, text: string): Failure {
  return new Failure(`${kind}: ${detail}`, `${kind}: ${text}`);
}

/** Runs a tool's body. What a model can mend becomes a failed result; what it may not do, and faults of the machine, ToolErrors. */
export function answeringByKind(
  fs: FileSystem,
  ctx: ToolContext,
  body: () => Promise<ToolCallResult>,
): Promise<ToolCallResult> {
  return answering(fs, ctx, async () => {
    try {
      return await body();
    } catch (error) {
      throw isFsError(error) ? await byReason(fs, error, ctx) : error;
    }
  });
}

async function byReason(fs: FileSystem, error: unknown, ctx: ToolContext): Promise<unknown> {
  if (!isFsError(error)) return error;
  const { reason, path } = error.details;
  switch (reason) {
    case "notFound":
      return failure("FileNotFound", quote(path), await notFoundText(fs, path, ctx.signal));
    case "changed":
      return failure(
        "AnchorStale",
        quote(path),
        `${quote(path)} was changed by something else meanwhile. Nothing was written. Make the call again.`,
      );
    case "io":
    case "noSpace":
      return new ToolError("execution", ctx.names.tool, `IoError: ${error.message}`, { cause: error });
    case "outside":
    case "permission":
      return error; // `answering` knows
    default:
      return failure("InvalidInput", quote(path), error.message);
  }
}
