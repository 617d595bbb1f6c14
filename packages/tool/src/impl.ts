import type { JsonValue, SessionId, Tool, ToolArguments } from "@shedkit/types";
import type { ToolError } from "./error.js";
import type { ToolMetadata } from "./metadata.js";
import type { Resources } from "./resources.js";
import type { ToolCallResult } from "./result.js";

/** A sign of life of a running call. */
export interface Progress {
  text?: string | undefined;
  data?: JsonValue | undefined;
}

/** Progress any number of times, then exactly one result or error. */
export type ToolEvent =
  | ({ type: "progress" } & Progress)
  | { type: "result"; result: ToolCallResult }
  | { type: "error"; error: ToolError };

/** What a running call knows. */
export interface ToolContext {
  readonly callId: string;
  /** Aborts when the call is cancelled or its time is up. */
  readonly signal: AbortSignal;
  readonly resources: Resources;
  readonly sessionId?: SessionId | undefined;
  readonly turnId?: string | undefined;
  /** The names the client gave this tool and its parameters, for its messages. */
  readonly names: { tool: string; param(canonical: string): string };
  /** The behaviour version in force, where the tool has any. */
  readonly version?: string | undefined;
  /** Runs another tool without reminders or persistence; absent inside such a call. */
  dispatch?(name: string, args: ToolArguments): Promise<ToolCallResult>;
  /** Tells the host of something, e.g. `execution_complete`. */
  notify(name: string, data?: JsonValue): void;
}

/** A tool with its types erased: what everything but its author sees. */
export interface ToolImpl {
  definition(): Tool;
  readonly metadata?: ToolMetadata | undefined;
  /** `args` fit the definition's schema. */
  execute(args: ToolArguments, ctx: ToolContext): Promise<ToolCallResult> | AsyncIterable<ToolEvent>;
}
