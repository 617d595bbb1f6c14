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

/** HTTP answers, by what they mean for a call. */
const BY_STATUS: { readonly [status: number]: ToolErrorKind } = {
  401: "unauthorized",
  403: "permissionDenied",
  404: "notFound",
  408: "timeout",
  410: "notFound",
  429: "rateLimited",
  502: "serviceUnavailable",
  503: "serviceUnavailable",
  504: "timeout",
};

/** Errors of our own packages, by their code, or by the kind or reason in their details. */
const BY_DETAIL: { readonly [detail: string]: ToolErrorKind } = {
  auth: "unauthorized",
  cancelled: "cancelled",
  toolNotAuthorized: "unauthorized",
  rateLimit: "rateLimited",
  overloaded: "serviceUnavailable",
  network: "network",
  timeout: "timeout",
  notFound: "notFound",
  permission: "permissionDenied",
  outside: "permissionDenied",
};

const RETRYABLE: ReadonlySet<ToolErrorKind> = new Set(["timeout", "network", "rateLimited", "serviceUnavailable"]);

/**
 * Anything that was thrown while `tool` ran, as a ToolError: itself where it is one, else of the kind that its class, its
 * code or its HTTP status tells, with the status and the time to wait where it has them.
 */
export function toToolError(thrown: unknown, tool: string): ToolError {
  if (thrown instanceof ToolError) return thrown;
  if (AgenticError.is(thrown)) {
    const { status, retryAfterMs, retryable } = thrown;
    const kind = kindOfAgentic(thrown);
    return new ToolError(kind, tool, thrown.message, { cause: thrown, status, retryAfterMs, retryable });
  }
  const kind = kindOf(thrown);
  const retryable = RETRYABLE.has(kind);
  return new ToolError(kind, tool, messageOf(thrown, tool), { cause: thrown, retryable, status: statusOf(thrown) });
}

function kindOfAgentic(error: AgenticError): ToolErrorKind {
  // A ToolError from another copy of this package.
  if (AgenticError.is(error, "tool")) return error.details.kind as ToolErrorKind;
  const { kind, reason } = error.details as { kind?: unknown; reason?: unknown };
  for (const detail of [error.code, kind, reason]) {
    const known = typeof detail === "string" && Object.hasOwn(BY_DETAIL, detail) ? BY_DETAIL[detail] : undefined;
    if (known !== undefined) return known;
  }
  return (error.status === undefined ? undefined : BY_STATUS[error.status]) ?? kindOf(error.cause);
}

const MAX_CAUSES = 8; // a chain may be a circle

function kindOf(thrown: unknown): ToolErrorKind {
  let at = thrown;
  for (let i = 0; i < MAX_CAUSES && at instanceof Error; i++) {
    if (at.name === "AbortError") return "cancelled";
    if (at.name === "TimeoutError") return "timeout";
    const code: unknown = "code" in at ? at.code : undefined;
    const status = statusOf(at);
    const kind =
      (typeof code === "string" && Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : undefined) ??
      (status === undefined ? undefined : BY_STATUS[status]);
    if (kind !== undefined) return kind;
    at = at.cause;
  }
  return "execution";
}

/** The HTTP status that clients put on their errors. A process's exit code is none. */
function statusOf(thrown: unknown): number | undefined {
  if (typeof thrown !== "object" || thrown === null) return undefined;
  const { status, statusCode } = thrown as { status?: unknown; statusCode?: unknown };
  return [status, statusCode].find((one) => typeof one === "number" && one >= 400 && one < 600) as number | undefined;
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
