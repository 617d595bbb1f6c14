import type { ToolCallResult, ToolError, ToolErrorKind } from "@shedkit/tool";
import type { ContentPart, ExecutionHint, JsonSchema, JsonValue, ToolArguments } from "@shedkit/types";

/** One call to run. */
export interface ToolCallRequest {
  /** Unique in its batch. */
  id: string;
  name: string;
  /** What the model sent, unconverted. */
  arguments: ToolArguments;
  /** What the model sent where it was not a JSON object; then `arguments` is ignored and the text is mended or refused. */
  rawArguments?: string | undefined;
  /** Where it stood in the batch that the model wrote, where other calls of that are done. Default: where it stands. */
  position?: number | undefined;
  /** Ids of calls of the same batch that must have succeeded first. */
  dependsOn?: readonly string[] | undefined;
  executionHint?: ExecutionHint | undefined;
}

/**
 * Calls that stand at the same depth of a batch's dependencies. A parallel stage runs every call and reports every
 * result; a sequential one stops at the first failure and skips the rest.
 */
export type ToolCallStage =
  | { type: "parallel"; failMode: "collectAll"; calls: readonly ToolCallRequest[] }
  | { type: "sequential"; failFast: true; calls: readonly ToolCallRequest[] };

/** A batch of calls, ordered. */
export interface ToolCallWorkflow {
  readonly stages: readonly ToolCallStage[];
  /** The ids in the order in which the calls were made: the order of the results. */
  readonly order: readonly string[];
  /** By id, why a call will not run though the others do. */
  readonly faults?: ReadonlyMap<string, ToolError> | undefined;
}

/** What became of one call. Exactly one of `result`, `error` and `skipped` is present. */
export interface ToolCallOutcome {
  request: ToolCallRequest;
  result?: ToolCallResult | undefined;
  error?: ToolError | undefined;
  /** Why the call was not run: it names the call that failed. */
  skipped?: string | undefined;
  /** What the model gets: cut to size, reminders appended, an error as text. */
  content: readonly ContentPart[];
  /** Present when the call failed, in whatever way: what failed, in a few words. */
  errorDetail?: string | undefined;
  /** The text of `content`. */
  promptText: string;
  /** The tool that really ran, where the one called passed the call on. */
  effectiveName?: string | undefined;
  /** What was mended in the arguments, one sentence each. */
  repaired?: readonly string[] | undefined;
  /** How often the tool was started: 0 for a call that was not run. */
  attempts: number;
}

/** When a failed call is tried again. Only idempotent tools are, unless `anyTool` says otherwise. */
export interface ToolRetryConfig {
  /** Tries after the first one. Default: 3. */
  maxRetries: number;
  /** Default: 1,000. */
  initialBackoffMs: number;
  /** Default: 2. */
  backoffMultiplier: number;
  /** Default: 30,000. */
  maxBackoffMs: number;
  /** Default: `timeout` and `network`. */
  retryOn: readonly ToolErrorKind[];
  /** Also tries tools again that are not idempotent. Default: false. */
  anyTool: boolean;
}

/** What a running tool told the host, by `ctx.notify`. */
export interface ToolNotification {
  toolCallId: string;
  /** The tool's name. */
  tool: string;
  /** The event's name. */
  name: string;
  data?: JsonValue | undefined;
}

/** A tool that a search found. Scores compare within one search only. */
export interface ToolHit {
  name: string;
  category: string;
  description: string;
  arguments: JsonSchema;
  score: number;
}
