import type { PreparedArguments, Progress, ToolCallResult, ToolError, ToolImpl, ToolMetadata } from "@shedkit/tool";
import type { ContentPart, JsonValue, Tool, ToolArguments } from "@shedkit/types";

/** A tool made ready for calls: its schemas compiled, its client names in place. Immutable. */
export interface BoundTool {
  /** The name the model calls it by. */
  readonly name: string;
  /** `namespace:id`. */
  readonly id: string;
  readonly impl: ToolImpl;
  /** What the model is told, by client names. */
  readonly definition: Tool;
  /** With its defaults filled in. */
  readonly metadata: ToolMetadata;
  /** The behaviour version in force, where the tool has any. */
  readonly version?: string | undefined;
  /** The tool's settings in force. */
  readonly params?: JsonValue | undefined;
  /** What has to be there before the first call; a dispatcher waits for it. */
  readonly ready?: Promise<void> | undefined;
  /** The client's name for a parameter. */
  paramName(canonical: string): string;
  /**
   * What the tool will get for what the model sent (an object, or the text that was to be one): renamed parameters
   * mapped back, checked, and repaired where that is needed and possible.
   *
   * Throws ToolError `invalidArguments`, whose text names each field, what was wanted and what came.
   */
  prepare(raw: unknown): PreparedArguments;
  /**
   * The result as it may go on: checked against `returns`; of several commands, against that of the command that the
   * arguments (as {@link prepare} gave them) name. Throws ToolError `execution` where it does not fit.
   */
  checkResult(result: ToolCallResult, args?: ToolArguments | undefined): ToolCallResult;
}

/** One call to run. */
export interface DispatchCall {
  readonly id: string;
  /** The client name. */
  readonly name: string;
  /** An object, or the text that was to be one. */
  readonly arguments: unknown;
}

/** What a call came to. Exactly one of `result` and `error` is there. */
export interface DispatchOutcome {
  readonly call: DispatchCall;
  /** As the tool gave it, whole. */
  readonly result?: ToolCallResult | undefined;
  readonly error?: ToolError | undefined;
  /** What the model gets: cut to size, reminders appended, an error as text. */
  readonly content: readonly ContentPart[];
  /** Present when the call failed, in either way. */
  readonly errorDetail?: string | undefined;
  /** The text of `content`. */
  readonly promptText: string;
  /** The tool that really ran, where a meta-tool passed the call on. */
  readonly effectiveName?: string | undefined;
  /** What was repaired of the arguments, one line each. */
  readonly repaired?: readonly string[] | undefined;
  /** Where the whole of a cut result is kept. */
  readonly handle?: string | undefined;
}

/** Progress any number of times, then exactly one outcome. */
export type DispatchEvent = ({ type: "progress" } & Progress) | { type: "done"; outcome: DispatchOutcome };

/** How one call is dispatched. */
export interface DispatchOptions {
  signal?: AbortSignal | undefined;
  turnId?: string | undefined;
  /** What the tool's `prepare` gave for the arguments of the call, where it has been asked already. */
  prepared?: PreparedArguments | undefined;
  /**
   * Awaited before each call that the running tool makes of another one, by its client name, with the arguments as the
   * calling tool gave them, and an id of its own that begins with its caller's: the place to ask for leave, which takes
   * nothing of the calling tool's time. What it throws is thrown in the calling tool, and the call is not run. `signal`
   * aborts when the calling tool's own call ends. Default: no leave is needed.
   */
  beforeInner?: ((call: DispatchCall, tool: BoundTool, signal: AbortSignal) => void | Promise<void>) | undefined;
}
