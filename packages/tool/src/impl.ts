import type { JsonValue, SessionId, Tool, ToolArguments } from "@shedkit/types";
import type { ToolError } from "./error.js";
import type { ToolKind, ToolMetadata } from "./metadata.js";
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

/** What the client calls things: what a tool's messages to the model must say. */
export interface ClientNames {
  /** This tool. */
  readonly tool: string;
  /** A parameter of this tool; a name that is none of its parameters' comes back as it is. */
  param(canonical: string): string;
  /**
   * The first tool of a kind, or of that kind and `id` (as the tool itself says it), that the model may have, this one or another;
   * undefined where there is none, and the message must do without.
   */
  toolOf(kind: ToolKind, id?: string): string | undefined;
  /** A parameter of that kind's tools; undefined where none of them has it. Of this very tool, ask {@link param}. */
  paramOf(kind: ToolKind, canonical: string): string | undefined;
}

/** What a running call knows. */
export interface ToolContext {
  readonly callId: string;
  /** Aborts when the call is cancelled or its time is up. */
  readonly signal: AbortSignal;
  readonly resources: Resources;
  readonly sessionId?: SessionId | undefined;
  readonly turnId?: string | undefined;
  /** For the tool's messages. */
  readonly names: ClientNames;
  /** The behaviour version in force, where the tool has any. */
  readonly version?: string | undefined;
  /**
   * Runs another tool, without reminders; absent inside such a call. `args` are as a model would send them (an object, or the
   * text that was to be one), and are checked and mended alike. Rejects with the ToolError of the call.
   */
  dispatch?(name: string, args: unknown): Promise<ToolCallResult>;
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
