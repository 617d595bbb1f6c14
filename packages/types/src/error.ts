import type { JsonValue } from "./json.js";
import type { Usage } from "./model.js";

/** What each error code carries. */
export interface AgenticErrorDetails {
  session: { reason: string };
  sessionNotFound: { sessionId: string };
  sessionBusy: { sessionId: string };
  turnInProgress: { turnId: string };
  generation: { kind: GenerationErrorKind; provider: string; model: string };
  auth: { provider: string };
  routing: { model: string; candidates: readonly string[] };
  /** `problem` is a short fixed name of what went wrong (`"repoNotFound"`, `"diskFull"`), for programs to tell apart. */
  provider: { package?: string | undefined; install?: string | undefined; problem?: string | undefined };
  tool: { tool: string; kind: string };
  file: { path: string; reason: string };
  toolNotAuthorized: { tool: string; user: string };
  toolShed: { problems: readonly JsonValue[] };
  loopDetected: { kind: string; occurrences: number };
  budgetExhausted: { usage: Usage };
  compaction: { before: number; after: number };
  store: { store: string; operation: string };
  memory: { reason: string };
  embedding: { reason: string };
  cancelled: { reason?: string | undefined };
  unexpected: { [key: string]: JsonValue };
}

/** How a generation failed. */
export type GenerationErrorKind =
  | "contextOverflow"
  | "rateLimit"
  | "overloaded"
  | "network"
  | "timeout"
  | "badRequest"
  | "refusal"
  | "server"
  | "other";

/** What an {@link AgenticError} is about. */
export type AgenticErrorCode = keyof AgenticErrorDetails;

/** An error as it stands in a log. */
export interface SerializedError {
  code: string;
  message: string;
  details: JsonValue;
  status?: number | undefined;
  /** The chain of causes, nearest first. */
  causes: readonly { name: string; message: string }[];
}

/** What may accompany an error. */
export interface AgenticErrorOptions {
  cause?: unknown;
  /** True where the same call may succeed later. Default: false. */
  retryable?: boolean | undefined;
  /** The HTTP status, where there was one. */
  status?: number | undefined;
  /** How long the other side asked to wait. */
  retryAfterMs?: number | undefined;
}

const MARK = Symbol.for("shedkit.AgenticError");

/**
 * The one error at the public boundary. Ask by {@link AgenticError.is}: it works by a marker, so that two copies of
 * this package agree.
 */
export class AgenticError<C extends AgenticErrorCode = AgenticErrorCode> extends Error {
  override readonly name: string = "AgenticError";
  readonly code: C;
  readonly details: AgenticErrorDetails[C];
  readonly retryable: boolean;
  readonly status?: number | undefined;
  readonly retryAfterMs?: number | undefined;

  constructor(code: C, message: string, details: AgenticErrorDetails[C], options: AgenticErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = details;
    this.retryable = options.retryable ?? false;
    if (options.status !== undefined) this.status = options.status;
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
    Object.defineProperty(this, MARK, { value: true });
  }

  toJSON(): SerializedError {
    return {
      code: this.code,
      message: this.message,
      details: this.details as JsonValue,
      ...(this.status === undefined ? {} : { status: this.status }),
      causes: causesOf(this),
    };
  }

  static is(e: unknown): e is AgenticError;
  static is<C extends AgenticErrorCode>(e: unknown, code: C): e is AgenticError<C>;
  static is(e: unknown, code?: AgenticErrorCode): boolean {
    if (typeof e !== "object" || e === null || !(MARK in e)) return false;
    return code === undefined || (e as { code?: unknown }).code === code;
  }

  /** Any thrown value as an AgenticError: itself, or an `unexpected` one that has it as its cause. */
  static from(e: unknown): AgenticError {
    if (AgenticError.is(e)) return e;
    return new AgenticError(
      "unexpected",
      e instanceof Error ? e.message : `Not an Error was thrown: ${String(e)}`,
      {},
      { cause: e },
    );
  }
}

const MAX_CAUSES = 8; // a chain may be a circle

function causesOf(error: Error): SerializedError["causes"] {
  const causes: { name: string; message: string }[] = [];
  for (let cause = error.cause; cause !== undefined && causes.length < MAX_CAUSES; ) {
    if (cause instanceof Error) {
      causes.push({ name: cause.name, message: cause.message });
      cause = cause.cause;
    } else {
      causes.push({ name: typeof cause, message: String(cause) });
      break;
    }
  }
  return causes;
}
