import { functionSpec, type Tool, toolName } from "@shedkit/types";
import { checkReturns } from "./check-result.js";
import { metadataOf } from "./defaults.js";
import { ToolError } from "./error.js";
import { toToolError } from "./fault.js";
import type { Progress, ToolContext, ToolEvent, ToolImpl } from "./impl.js";
import type { ToolKind } from "./metadata.js";
import { prepareArguments } from "./prepare.js";
import { Resources } from "./resources.js";
import type { ToolCallResult } from "./result.js";
import { runTool } from "./run.js";
import type { SchemaValidator } from "./schema.js";

/** What may go with a call of a tool that stands alone. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Default: none. */
  resources?: Resources | undefined;
  /** Default: {@link evalFreeValidator}. */
  validator?: SchemaValidator | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
}

/**
 * Runs a tool for a person who has only the tool: checks and repairs the arguments, runs it, waits for its result
 * and holds it against the schema that the tool gives for it.
 * Expected failures are results with `errorDetail`; it rejects with nothing but ToolError.
 */
export async function callTool(tool: ToolImpl, args: unknown, options: CallOptions = {}): Promise<ToolCallResult> {
  let name = "tool";
  try {
    const definition = tool.definition();
    name = toolName(definition);
    const prepared = prepareArguments(definition, args, options.validator);
    const { kind, capabilities } = metadataOf(tool, definition);
    const events = runTool(tool, prepared.args, callContext(definition, kind, options), capabilities.timeoutMs);
    const result = await settle(events, options.onProgress);
    return checkReturns(definition, name, result, prepared.args, options.validator);
  } catch (e) {
    throw toToolError(e, name);
  }
}

/** The context of a call outside any session: the tool knows of no other. */
export function callContext(tool: Tool, kind: ToolKind, options: CallOptions): ToolContext {
  const name = toolName(tool);
  return {
    callId: `${name}-call`,
    signal: options.signal ?? new AbortController().signal,
    resources: options.resources ?? new Resources(),
    names: {
      tool: name,
      param: (canonical) => canonical,
      toolOf: (asked, id = name) => (asked === kind && id === name ? name : undefined),
      paramOf: (asked, canonical) => (asked === kind && takes(tool, canonical) ? canonical : undefined),
    },
    notify: () => {},
  };
}

function takes(tool: Tool, param: string): boolean {
  return Object.hasOwn((functionSpec(tool).parameters as { properties?: object }).properties ?? {}, param);
}

/** Reads events to their end. Rejects with the ToolError of an error event. */
export async function settle(
  events: AsyncIterable<ToolEvent>,
  onProgress?: ((progress: Progress) => void) | undefined,
): Promise<ToolCallResult> {
  for await (const event of events) {
    if (event.type === "result") return event.result;
    if (event.type === "error") throw event.error;
    const { type: _, ...progress } = event;
    onProgress?.(progress);
  }
  throw new ToolError("custom", "tool", "The tool ended without a result (stream_no_terminal).");
}
