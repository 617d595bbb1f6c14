import { AgenticError, type AgenticErrorOptions } from "@shedkit/types";

/** What went wrong with a tool call. */
export type ToolErrorKind =
  | "unknownTool"
  | "notActive"
  | "invalidArguments"
  | "notFound"
  | "permissionDenied"
  | "unauthorized"
  | "timeout"
  | "cancelled"
  | "rateLimited"
  | "network"
  | "execution"
  | "notImplemented"
  | "concurrencyLimit"
  | "serviceUnavailable"
  | "behaviorVersion"
  | "custom";

/**
 * A fault of a tool call. It reaches the model as the call's result and never ends a turn. Expected failures (no such
 * file) are results with an `errorDetail` instead.
 */
export class ToolError extends AgenticError<"tool"> {
  override readonly name = "ToolError";
  readonly kind: ToolErrorKind;

  /** `tool` is the name the call used; `message` is read by the model, so it says what to do next. */
  constructor(kind: ToolErrorKind, tool: string, message: string, options?: AgenticErrorOptions) {
    super("tool", message, { tool, kind }, options);
    this.kind = kind;
  }
}
