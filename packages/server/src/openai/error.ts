import { HttpError, httpError } from "../http-error.js";

/** A request whose parameter `param` cannot be served. */
export class ParamError extends HttpError {
  readonly param: string;

  constructor(param: string, message: string, options: { status?: number; code?: string } = {}) {
    super(options.status ?? 400, options.code ?? "invalid_value", message);
    this.param = param;
  }
}

/** An error as OpenAI's clients read it. */
export interface OpenaiErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}

/** A thrown value as OpenAI's clients read it. */
export function openaiError(thrown: unknown): OpenaiErrorBody {
  const error = httpError(thrown);
  const { status, message } = error;
  const type = status === 429 ? "rate_limit_error" : status >= 500 ? "server_error" : "invalid_request_error";
  const code = status === 401 ? "invalid_api_key" : error.code;
  return { error: { message, type, param: error instanceof ParamError ? error.param : null, code } };
}
