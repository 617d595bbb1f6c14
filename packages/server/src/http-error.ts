import { AgenticError, type AgenticErrorCode } from "@shedkit/types";

/** A request that gets an error for an answer. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  /** A short fixed name, for programs. */
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** A request whose body, path or query is wrong. */
export function badRequest(message: string): HttpError {
  return new HttpError(400, "badRequest", message);
}

const STATUS: Partial<Record<AgenticErrorCode, number>> = {
  sessionNotFound: 404,
  session: 400,
  sessionBusy: 409,
  turnInProgress: 409,
  compaction: 409,
  auth: 502,
  generation: 502,
  routing: 400,
  budgetExhausted: 402,
  cancelled: 409,
};

/** What a thrown value is to a client. What is nobody's error but ours tells nothing of itself. */
export function httpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (!AgenticError.is(error)) return new HttpError(500, "unexpected", "The server failed at this request.");
  const message =
    error.code === "sessionBusy"
      ? "The session is open in another program. Close it there, or make a copy of the session and go on in that."
      : error.message;
  return new HttpError(STATUS[error.code] ?? 500, error.code, message);
}
