import { AgenticError, type GenerationErrorKind } from "@shedkit/types";
import { htmlPage } from "./html-page.js";
import { isOverflowText } from "./overflow.js";
import type { Secret } from "./secret.js";

/** Whose failure it is. */
export interface FailureContext {
  provider: string;
  model: string;
  /** The request's: an error after its abort is `cancelled`. */
  signal?: AbortSignal | undefined;
  /** Taken out of every text. */
  secret?: Secret | undefined;
}

/** What is known of a refused or broken request. */
export interface FailureFacts {
  /** The HTTP status; absent where there was no response. */
  status?: number | undefined;
  /** The provider's own code or type, e.g. `overloaded_error`. */
  code?: string | undefined;
  /** What the provider said; empty where the response had no body. */
  message: string;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/**
 * An HTTP response, or an error event in a stream, as an AgenticError: `auth` for 401 and 403, else `generation` with
 * its kind. `retryable` is true where the same request may succeed later.
 */
export function responseFailure(facts: FailureFacts, context: FailureContext): AgenticError {
  const status = facts.status;
  const options = {
    cause: facts.cause,
    status,
    retryAfterMs: facts.retryAfterMs,
  };
  const text = describe(facts, context);
  if (isAuth(facts)) return new AgenticError("auth", text, { provider: context.provider }, options);
  const kind = kindOf(facts);
  return new AgenticError(
    "generation",
    text,
    { kind, provider: context.provider, model: context.model },
    { ...options, retryable: isRetryable(kind, facts) },
  );
}

/** Anything thrown while a request ran: an abort, a broken connection, a time limit, or a fault. */
export function thrownFailure(error: unknown, context: FailureContext): AgenticError {
  if (context.signal?.aborted) return cancelledFailure(context.signal);
  if (AgenticError.is(error)) return error;
  const chain = causeChain(error);
  const kind = chain.some(isTimeout) ? "timeout" : chain.some(isNetwork) ? "network" : undefined;
  if (kind === undefined) return AgenticError.from(error);
  const detail = chain.map((cause) => cause.message).filter((message, i, all) => message && all.indexOf(message) === i);
  const what = kind === "timeout" ? "took too long" : "could not be reached, or the connection broke";
  return new AgenticError(
    "generation",
    redact(`${context.provider} ${what}: ${detail.join(": ")}`, context),
    { kind, provider: context.provider, model: context.model },
    { cause: error, retryable: true },
  );
}

/** The failure of a request whose signal aborted. */
export function cancelledFailure(signal: AbortSignal): AgenticError<"cancelled"> {
  const cause: unknown = signal.reason;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new AgenticError("cancelled", `The request was aborted: ${reason}`, { reason }, { cause });
}

/**
 * How long a response asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date.
 * `now` is the time in milliseconds since the epoch, by default the clock's.
 */
export function retryAfterMs(headers: Pick<Headers, "get">, now: () => number = Date.now): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const header = headers.get("retry-after");
  if (header === null || header.trim() === "") return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return seconds < 0 ? undefined : seconds * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now());
}

function isAuth({ status, code }: FailureFacts): boolean {
  return (
    status === 401 || status === 403 || (status === undefined && /^(authentication|permission)_error$/.test(code ?? ""))
  );
}

function kindOf(facts: FailureFacts): GenerationErrorKind {
  const { status, code = "", message } = facts;
  if (/overflow|context_length|context_window/.test(code) || isOverflowText(message)) return "contextOverflow";
  // A request that is too large gets smaller with its context, whatever the provider counts: bytes, or tokens a minute.
  if (status === 413) return "contextOverflow";
  // Cerebras and Mistral answer a prompt that is too long with this and nothing else.
  if (status === 400 && message.trim() === "") return "contextOverflow";
  if (/content_(filter|policy)|moderation|invalid_prompt/.test(code)) return "refusal";
  if (status === 429 || /rate_limit|insufficient_quota|too_many_requests/.test(code)) return "rateLimit";
  if (status === 503 || status === 529 || /overloaded|engine_overloaded|unavailable/.test(code)) return "overloaded";
  if (status === 408 || status === 504 || /timeout/.test(code)) return "timeout";
  if ((status !== undefined && status >= 500) || /api_error|server_error|internal/.test(code)) return "server";
  if (status !== undefined && status >= 400) return "badRequest";
  if (/invalid_request|not_found|bad_request/.test(code)) return "badRequest";
  return "other";
}

function isRetryable(kind: GenerationErrorKind, { status, code = "" }: FailureFacts): boolean {
  if (/insufficient_quota|billing/.test(code) || status === 402) return false;
  if (status === 409) return true;
  return kind === "rateLimit" || kind === "overloaded" || kind === "timeout" || kind === "server";
}

/** What a person can do about it. */
const ADVICE: { readonly [status: number]: string } = {
  401: "Check the key.",
  402: "Check the account's credit.",
  403: "Check what the key may do.",
  404: "Check the name of the model, and the base URL.",
};

function describe(facts: FailureFacts, context: FailureContext): string {
  const label = [facts.status, facts.code].filter((part) => part !== undefined).join(" ");
  const said = `${context.provider} refused the request${label ? ` (${label})` : ""}: ${saidShort(facts.message)}`;
  const advice = facts.status === undefined ? undefined : ADVICE[facts.status];
  return redact(advice === undefined ? said : `${said.replace(/[.!]?$/, ".")} ${advice}`, context);
}

const LONGEST = 2000;

/** What the provider said, without the pages that gateways answer with. */
function saidShort(message: string): string {
  const text = message.trim();
  if (text === "") return "no reason given";
  return htmlPage(text) ?? (text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text);
}

function redact(text: string, { secret }: FailureContext): string {
  return secret?.redact(text) ?? text;
}

interface Cause {
  name: string;
  message: string;
  code: string;
}

function causeChain(error: unknown): Cause[] {
  const chain: Cause[] = [];
  for (let at = error; at instanceof Error && chain.length < 8; at = at.cause) {
    const { code } = at as { code?: unknown };
    chain.push({ name: at.name, message: at.message, code: typeof code === "string" ? code : "" });
    if (at instanceof AggregateError && at.cause === undefined) {
      for (const inner of at.errors.slice(0, 4)) chain.push(...causeChain(inner));
    }
  }
  return chain;
}

function isTimeout({ name, message, code }: Cause): boolean {
  return (
    /TimeoutError$/.test(name) ||
    /^(ETIMEDOUT|ESOCKETTIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/.test(code) ||
    /timed out/i.test(message)
  );
}

function isNetwork({ name, message, code }: Cause): boolean {
  return (
    /^(E(CONN|HOST|NET|ADDR|PIPE|PROTO|AI_)|ENOTFOUND|UND_ERR_SOCKET|ERR_(SSL|TLS|STREAM_PREMATURE)|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(
      code,
    ) ||
    /Connection(Error|Closed)?$/.test(name) ||
    /fetch failed|network|socket|premature close|terminated|other side closed/i.test(message)
  );
}
