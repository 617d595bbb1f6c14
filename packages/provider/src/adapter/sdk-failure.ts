import { AgenticError } from "@shedkit/types";
import { type FailureContext, type FailureFacts, responseFailure, retryAfterMs, thrownFailure } from "../failure.js";

/** The fields that the errors of the official SDKs have: of a response, or of an error event in a stream. */
interface SdkError extends Error {
  status?: unknown;
  headers?: unknown;
  error?: unknown;
}

/** What an SDK threw, as an AgenticError. */
export function sdkFailure(error: unknown, context: FailureContext): AgenticError {
  if (context.signal?.aborted || AgenticError.is(error) || !(error instanceof Error)) {
    return thrownFailure(error, context);
  }
  if (error instanceof SyntaxError) return brokenOff(context, error);
  const { status, headers, error: body } = error as SdkError;
  if (typeof status !== "number" && body === undefined) return thrownFailure(error, context);
  return responseFailure(
    {
      ...factsOf(body, withoutStatus(error.message)),
      ...(typeof status === "number" && { status }),
      ...(headers instanceof Headers && { retryAfterMs: retryAfterMs(headers) }),
      cause: withoutBody(error, context),
    },
    context,
  );
}

/** A stream that ended before its answer did: in good order, or in the middle of an event. */
export function brokenOff({ provider, model }: FailureContext, cause?: Error): AgenticError {
  return new AgenticError(
    "generation",
    `${provider} ended the stream before the answer was complete.`,
    { kind: "network", provider, model },
    { cause, retryable: true },
  );
}

/** Code and text of an error body: `{ error: { type, code, message } }`, or its inside, or a text. */
export function factsOf(body: unknown, otherwise = ""): Pick<FailureFacts, "code" | "message"> {
  const outer = asObject(body);
  const inner = asObject(outer?.error) ?? outer;
  const said = inner?.message ?? inner?.detail ?? (typeof outer?.error === "string" ? outer.error : undefined);
  const message = typeof said === "string" ? said : typeof body === "string" ? body : otherwise;
  // OpenAI's `code` says more than its `type`; Anthropic has a `type` alone. Some servers put the status there.
  const code = [inner?.code, inner?.type].find(
    (value) => typeof value === "string" && value !== "" && value !== "error",
  );
  return typeof code === "string" ? { code, message } : { message };
}

function withoutStatus(message: string): string {
  const text = message.replace(/^\d{3} /, "");
  return text === "status code (no body)" || text === "(no status code or body)" ? "" : text;
}

/** The SDK's error holds headers and the whole body; a cause needs its name and text alone. */
function withoutBody(error: Error, { secret }: FailureContext): Error {
  const cause = new Error(secret?.redact(error.message) ?? error.message);
  cause.name = error.constructor.name;
  return cause;
}

function asObject(value: unknown): { [key: string]: unknown } | undefined {
  return typeof value === "object" && value !== null ? (value as { [key: string]: unknown }) : undefined;
}
