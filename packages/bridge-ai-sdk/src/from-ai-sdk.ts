import {
  type AccessRequest,
  capabilitiesFor,
  ToolCallResult,
  type ToolCapabilities,
  type ToolContext,
  ToolError,
  type ToolEvent,
  type ToolImpl,
  toContent,
} from "@shedkit/tool";
import { AgenticError, type JsonSchema, type JsonValue, type ToolArguments } from "@shedkit/types";
import type { ToolSet } from "ai";
import { fromModelOutput, type ModelOutput } from "./model-output.js";
import { loadAi } from "./peer.js";
import { type AnyAiSdkTool, asJson } from "./schema.js";

/** How tools of the AI SDK are taken over. */
export interface FromAiSdkOptions {
  /** What a search groups them by. Default: `"ai-sdk"`. */
  category?: string | undefined;
  /** By tool, what it may do: the AI SDK has no words for it. Default: anything (it writes, it may destroy). */
  capabilities?: { readonly [tool: string]: Partial<ToolCapabilities> } | undefined;
  /** By tool, what its `contextSchema` asks for. Default: an empty object. */
  context?: { readonly [tool: string]: object } | undefined;
}

/**
 * Tools of the AI SDK for a shed. Throws AgenticError `toolShed` naming each that cannot run here: one that has no
 * `execute`, or runs at a provider; AgenticError `provider` where `ai` is not installed. `needsApproval` is not looked at: give the session a permission policy.
 */
export async function fromAiSdkTools(
  given: { readonly [name: string]: AnyAiSdkTool },
  options: FromAiSdkOptions = {},
): Promise<ToolImpl[]> {
  const tools = given as ToolSet;
  const { asSchema } = await loadAi();
  const problems = Object.entries(tools).flatMap(([name, tool]) => {
    const why = unusable(tool);
    return why === undefined ? [] : [`"${name}" ${why}.`];
  });
  if (problems.length > 0) {
    const message = `These tools of the AI SDK cannot run here: ${problems.join(" ")}`;
    throw new AgenticError("toolShed", message, { problems });
  }
  return Promise.all(
    Object.entries(tools).map(async ([name, tool]): Promise<ToolImpl> => {
      const schema = asSchema<unknown>(tool.inputSchema);
      const input: JsonSchema = await schema.jsonSchema;
      return bridge(name, tool, input, (value) => schema.validate?.(value), options);
    }),
  );
}

type AiTool = ToolSet[string];

function unusable(tool: AiTool): string | undefined {
  if (tool.type === "provider" && tool.isProviderExecuted) return "is run by its provider";
  return tool.execute === undefined ? "has no execute: its client runs it" : undefined;
}

type Validate = (value: unknown) => PromiseLike<Verdict> | Verdict | undefined;
type Verdict = { success: true; value: unknown } | { success: false; error: Error };

function bridge(
  name: string,
  tool: AiTool,
  input: JsonSchema,
  validate: Validate,
  { category = "ai-sdk", capabilities = {}, context = {} }: FromAiSdkOptions,
): ToolImpl {
  const own = Object.hasOwn(capabilities, name) ? capabilities[name] : undefined;
  const ownContext = (Object.hasOwn(context, name) ? context[name] : undefined) ?? {};
  const given = tool.description;
  const description = typeof given === "function" ? given({ context: ownContext }) : (given ?? "");
  const access: AccessRequest = { action: own?.readOnly === true ? "read" : "execute", target: name };
  return {
    definition: () => ({ type: "single", definition: { name, category, description, arguments: input } }),
    metadata: {
      id: name,
      namespace: "ai-sdk",
      kind: "other",
      capabilities: capabilitiesFor("other", own),
      access: () => [access],
    },
    execute: (args, ctx) => run(tool, args, ctx, validate, ownContext),
  };
}

async function* run(
  tool: AiTool,
  args: ToolArguments,
  ctx: ToolContext,
  validate: Validate,
  context: object,
): AsyncGenerator<ToolEvent, void, void> {
  const verdict = await validate(args);
  if (verdict?.success === false) {
    const message = `The arguments of ${ctx.names.tool} do not fit: ${verdict.error.message}`;
    throw new ToolError("invalidArguments", ctx.names.tool, message, { cause: verdict.error });
  }
  const input = verdict === undefined ? args : verdict.value;
  const running = tool.execute?.(input, { toolCallId: ctx.callId, messages: [], abortSignal: ctx.signal, context });
  let output: unknown;
  if (isAsyncIterable(running)) {
    // Each is a result that holds until the next; the last one counts.
    let held: { value: unknown } | undefined;
    for await (const value of running) {
      if (held !== undefined) yield progressOf(held.value);
      held = { value };
    }
    output = held?.value;
  } else output = await running;
  yield { type: "result", result: await resultOf(tool, ctx.callId, input, output) };
}

function progressOf(value: unknown): ToolEvent {
  const data = asJson(value);
  return { type: "progress", ...(typeof data === "string" ? { text: data } : { data }) };
}

async function resultOf(tool: AiTool, toolCallId: string, input: unknown, output: unknown): Promise<ToolCallResult> {
  const json: JsonValue | undefined = asJson(output);
  if (tool.toModelOutput === undefined) return new ToolCallResult(toContent(json), { output: json });
  const shown: ModelOutput = await tool.toModelOutput({ toolCallId, input, output });
  const { content, errorDetail } = fromModelOutput(shown);
  return new ToolCallResult(content, { output: json, errorDetail });
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
