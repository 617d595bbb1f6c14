import { AgenticError } from "@shedkit/types";
import { ToolError, type ToolErrorKind } from "./error.js";

/** Error codes of the operating system and of HTTP clients, by what they mean for a call. */
const BY_CODE: { readonly [code: string]: ToolErrorKind } = {
  ENOENT: "notFound",
  EACCES: "permissionDenied",
  EPERM: "permissionDenied",
  EROFS: "permissionDenied",
  ETIMEDOUT: "network",
  ECONNREFUSED: "network",
  ECONNRESET: "network",
  ECONNABORTED: "network",
  EPIPE: "network",
  ENOTFOUND: "network",
  EAI_AGAIN: "network",
  ENETUNREACH: "network",
  EHOSTUNREACH: "network",
  UND_ERR_CONNECT_TIMEOUT: "network",
  UND_ERR_HEADERS_TIMEOUT: "network",
  UND_ERR_BODY_TIMEOUT: "network",
  UND_ERR_SOCKET: "network",
};

const RETRYABLE: ReadonlySet<ToolErrorKind> = new Set(["timeout", "network", "rateLimited", "serviceUnavailable"]);

/** Anything that was thrown while `tool` ran, as a ToolError: itself where it is one, else of the kind its code tells. */
export function toToolError(thrown: unknown, tool: string): ToolError {
  if (thrown instanceof ToolError) return thrown;
  if (AgenticError.is(thrown, "tool")) {
    // From another copy of this package.
    return new ToolError(thrown.details.kind as ToolErrorKind, tool, thrown.message, {
      cause: thrown,
      retryable: thrown.retryable,
    });
  }
  const kind = kindOf(thrown);
  return new ToolError(kind, tool, messageOf(thrown, tool), { cause: thrown, retryable: RETRYABLE.has(kind) });
}

const MAX_CAUSES = 8; // a chain may be a circle

function kindOf(thrown: unknown): ToolErrorKind {
  let at = thrown;
  for (let i = 0; i < MAX_CAUSES && at instanceof Error; i++) {
    if (at.name === "AbortError") return "cancelled";
    if (at.name === "TimeoutError") return "timeout";
    const code: unknown = "code" in at ? at.code : undefined;
    const kind = typeof code === "string" ? BY_CODE[code] : undefined;
    if (kind !== undefined) return kind;
    at = at.cause;
  }
  return "execution";
}

function messageOf(thrown: unknown, tool: string): string {
  if (thrown instanceof Error) return thrown.message === "" ? `${tool} failed: ${thrown.name}.` : thrown.message;
  let text: string;
  try {
    text = typeof thrown === "object" && thrown !== null ? JSON.stringify(thrown) : String(thrown);
  } catch {
    text = "a value that cannot be shown";
  }
  return `${tool} failed: ${text}`;
}
