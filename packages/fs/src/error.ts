import { AgenticError } from "@shedkit/types";

/** What a file system refused or failed at. */
export type FsErrorReason =
  | "notFound"
  | "exists"
  | "isADirectory"
  | "notADirectory"
  | "notAFile"
  | "notEmpty"
  | "outside"
  | "permission"
  | "invalidPath"
  | "nameTooLong"
  | "tooLarge"
  | "changed"
  | "noSpace"
  | "io";

/** The one error of a file system. Its text names the path, and can be shown to a model or a person as it is. */
export class FsError extends AgenticError<"file"> {
  override readonly name = "FsError";
  readonly reason: FsErrorReason;
  /** As it was given. */
  readonly path: string;

  constructor(reason: FsErrorReason, path: string, message: string, cause?: unknown) {
    super("file", message, { path, reason }, cause === undefined ? {} : { cause });
    this.reason = reason;
    this.path = path;
  }
}

/** True for a file system's error, by a marker, so that two copies of this package agree; with `reason`, for that one. */
export function isFsError(e: unknown, reason?: FsErrorReason): e is FsError {
  return AgenticError.is(e, "file") && (reason === undefined || e.details.reason === reason);
}
