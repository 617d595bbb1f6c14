import { AgenticError } from "@shedkit/types";

/**
 * What went wrong with a model's files. It stands in `details.problem` of the AgenticError `provider`; a hub that
 * refuses (401, 403) is AgenticError `auth` instead, an abort `cancelled`.
 */
export type ModelProblem =
  | "badReference"
  | "fileNotFound"
  | "isDirectory"
  | "notReadable"
  | "notGguf"
  | "notAModel"
  | "truncated"
  | "damaged"
  | "missingShard"
  | "repoNotFound"
  | "revisionNotFound"
  | "fileNotInRepo"
  | "noGguf"
  | "quantizationNotFound"
  | "ambiguous"
  | "unreachable"
  | "offline"
  | "hubError"
  | "notTheHub"
  | "checksum"
  | "cacheNotWritable"
  | "diskFull";

/** An AgenticError `provider` with its problem. */
export function modelError(
  problem: ModelProblem,
  message: string,
  options: {
    cause?: unknown;
    retryable?: boolean | undefined;
    status?: number | undefined;
    retryAfterMs?: number | undefined;
  } = {},
): AgenticError<"provider"> {
  return new AgenticError("provider", message, { problem }, options);
}

/** The `code` of a system error (`"ENOENT"`), looked for along the causes too. */
export function systemCode(error: unknown): string | undefined {
  for (let at = error, depth = 0; typeof at === "object" && at !== null && depth < 8; depth++) {
    const { code, cause, errors } = at as { code?: unknown; cause?: unknown; errors?: unknown };
    if (typeof code === "string" && /^E[A-Z0-9]+$|^UND_/.test(code)) return code;
    at = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return undefined;
}

/** The text of the cause at the bottom: `fetch` itself says "fetch failed" of everything. */
export function innermostMessage(error: unknown): string {
  let at = error;
  for (let depth = 0; at instanceof Error && at.cause !== undefined && depth < 8; depth++) at = at.cause;
  return at instanceof Error ? at.message || at.name : String(at);
}

/** Throws AgenticError `cancelled` once the signal has aborted. */
export function throwIfAborted(signal: AbortSignal | undefined, what: string): void {
  if (signal?.aborted) throw cancelled(signal, what);
}

/** AgenticError `cancelled`: what was stopped, and the signal's reason where it is a text. */
export function cancelled(signal: AbortSignal | undefined, what: string): AgenticError<"cancelled"> {
  const reason: unknown = signal?.reason;
  return new AgenticError("cancelled", what, typeof reason === "string" ? { reason } : {}, { cause: reason });
}

/** An error of the file system as one clear line; errors that are clear already pass. */
export function fileError(path: string, error: unknown): unknown {
  switch (AgenticError.is(error) ? undefined : systemCode(error)) {
    case undefined:
      return error;
    case "ENOENT":
    case "ENOTDIR":
      return modelError("fileNotFound", `There is no file ${path}; check the path.`, { cause: error });
    case "EACCES":
    case "EPERM":
      return modelError("notReadable", `${path} may not be read by this user; check its permissions.`, {
        cause: error,
      });
    default:
      return modelError("notReadable", `${path} cannot be read (${systemCode(error)}).`, { cause: error });
  }
}
