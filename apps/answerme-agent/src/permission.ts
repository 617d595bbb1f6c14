import { ToolCallResult, type ToolConstructor, type ToolEvent, type ToolImpl } from "@shedkit/tool";
import { type ToolArguments, toolName } from "@shedkit/types";

/** A call that changes something, before it runs. */
export interface ChangeRequest {
  readonly tool: string;
  readonly arguments: ToolArguments;
  readonly signal: AbortSignal;
}

/** Decides about calls that change something: undefined lets one run, a text says why it may not. */
export type Gate = (request: ChangeRequest) => Promise<string | undefined>;

const DAY_MS = 24 * 60 * 60 * 1000;

/** The same tools; those that change something run only where the gate lets them. */
export function guarded(tools: Iterable<ToolConstructor>, gate: Gate): ToolConstructor[] {
  return Array.from(tools, (made) => ({
    name: made.name,
    needsSession: made.needsSession,
    construct: async (parts) => guardedTool(await made.construct(parts), gate),
  }));
}

function guardedTool(tool: ToolImpl, gate: Gate): ToolImpl {
  if (tool.metadata?.capabilities.readOnly) return tool;
  return {
    definition: () => tool.definition(),
    ...(tool.metadata && {
      metadata: {
        ...tool.metadata,
        // A person may take their time to decide.
        capabilities: { ...tool.metadata.capabilities, timeoutMs: DAY_MS },
      },
    }),
    async *execute(args, ctx): AsyncGenerator<ToolEvent> {
      const denied = await gate({ tool: toolName(tool.definition()), arguments: args, signal: ctx.signal });
      if (denied !== undefined) {
        yield { type: "result", result: ToolCallResult.failure(denied) };
        return;
      }
      const running = tool.execute(args, ctx);
      if (Symbol.asyncIterator in running) yield* running;
      else yield { type: "result", result: await running };
    },
  };
}
