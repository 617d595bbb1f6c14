import { ToolError, toToolError } from "@shedkit/tool";
import type { BoundTool } from "@shedkit/toolset";
import type { ToolArguments } from "@shedkit/types";
import type { ToolCallRequest } from "../types.js";
import { type Effect, NO_EFFECT } from "./workflow.js";

type Prepare = (request: ToolCallRequest) => ToolArguments;

/** What a call does to the world, as its tool says. Throws ToolError `execution` where the tool fails to say it. */
export function effectOf(request: ToolCallRequest, tool: BoundTool | undefined, prepare: Prepare): Effect {
  if (tool === undefined) return NO_EFFECT;
  let args = request.arguments;
  if (request.rawArguments !== undefined) {
    try {
      args = prepare(request);
    } catch {
      return NO_EFFECT; // it is refused when its turn comes
    }
  }
  const { readOnly, touches } = tool.metadata.capabilities;
  try {
    const targets: unknown = touches(args);
    if (!Array.isArray(targets)) throw new TypeError("it gave no list");
    return { readOnly, touches: targets };
  } catch (cause) {
    const { message } = toToolError(cause, request.name);
    const text = `The tool "${request.name}" did not run: what it touches could not be told: ${message}`;
    throw new ToolError("execution", request.name, text, { cause });
  }
}
