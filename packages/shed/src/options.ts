import type { Progress, Resources, SchemaValidator } from "@shedkit/tool";
import type { ToolSet, ToolSetWarning } from "@shedkit/toolset";
import type { ActivatedBy, ToolDeclarations } from "@shedkit/types";
import type { RetryClock } from "./calls/retry.js";
import type { ToolCallOutcome, ToolCallRequest } from "./types.js";
import type { CallByNameOptions } from "./use-tool.js";

/** Settings of a {@link ToolCallManager}. */
export interface ManagerOptions {
  /** Tools made ready by a configuration, with their reminders and memories. Default: none. */
  set?: ToolSet | undefined;
  /** What was found out before the set was made. Default: nothing. */
  warnings?: readonly ToolSetWarning[] | undefined;
  /** What the tools find at run time. Default: those of `set`, else an empty container. */
  resources?: Resources | undefined;
  /** Checks arguments and results of tools that are registered later. Default: the eval-free one. */
  validator?: SchemaValidator | undefined;
  /** Gives every declared tool an optional `_after`. Default: false. */
  ordering?: boolean | undefined;
  /** A call of an inactive tool does not activate it. Default: false. */
  strict?: boolean | undefined;
  /** Offers `use_tool`; see `ToolShed.callByName`. Default: not. */
  callByName?: CallByNameOptions | undefined;
  /** How many tools {@link ToolCallManager.trimActive} keeps. Default: 40. */
  maxActive?: number | undefined;
  /** @internal Of a shed that builds many sessions. Default: nothing is active. */
  beginning?: Beginning | undefined;
  /** How retries wait. Default: the machine's clock. */
  clock?: RetryClock | undefined;
}

/** What is offered when a session begins: the same for all sessions that have these tools. */
export interface Beginning {
  readonly active: ReadonlyMap<string, ActivatedBy>;
  /** Once they were asked for. */
  declarations?: ToolDeclarations | undefined;
}

/** Tools that became active, or ceased to be: what a session's log records. */
export type ActivationChange =
  | { type: "activated"; tools: readonly string[]; by: ActivatedBy }
  | { type: "deactivated"; tools: readonly string[] };

/** How one call is run. */
export interface CallRunOptions {
  signal?: AbortSignal | undefined;
  /** The turn the call belongs to. */
  turnId?: string | undefined;
}

/** How a batch of calls is run. */
export interface RunOptions extends CallRunOptions {
  /** How many calls of a parallel stage run at once. Default: 8. */
  concurrency?: number | undefined;
  /** Refuses calls of tools that are not active; see {@link ToolCallManager.checkOffered}. Default: false. */
  offeredOnly?: boolean | undefined;
  /**
   * Awaited before each attempt: the place to record it and to ask for leave. A ToolError thrown here becomes the
   * outcome of the call, which then does not run; any other error ends the batch.
   */
  before?: ((request: ToolCallRequest, attempt: number) => void | Promise<void>) | undefined;
  /**
   * Awaited before each call that a running tool makes of another, `outer`'s: the place to ask for leave. The request has an
   * id of its own, and takes nothing of the calling tool's time while it waits; `signal` aborts when that tool's call ends.
   * What is thrown here is thrown in the calling tool, and the call is not run.
   */
  beforeInner?:
    | ((request: ToolCallRequest, outer: ToolCallRequest, signal: AbortSignal) => void | Promise<void>)
    | undefined;
  /**
   * Runs each attempt, by `run`, which it must call once and whose promise it must return: the place to make the attempt
   * part of something that is carried along in the background, a span of a trace say.
   */
  around?: (<T>(request: ToolCallRequest, run: () => Promise<T>) => Promise<T>) | undefined;
  /** A sign of life of a running call. */
  progress?: ((request: ToolCallRequest, progress: Progress) => void) | undefined;
  /** Awaited as soon as a call is done, in whatever order they finish: the place to record it. */
  after?: ((outcome: ToolCallOutcome) => void | Promise<void>) | undefined;
}
