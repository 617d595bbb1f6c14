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
 * `execute`, or runs at a provider; AgenticError `provider` where `ai` is not installed. A call that `needsApproval`
 * waits in a session for a person's yes, whatever the permissions.
 */
export async function fromAiSdkTools(
  given: { readonly [name: string]: AnyAiSdkTool },
  options: FromAiSdkOptions = {},
): Promise<ToolImpl[]> {
  const { asSchema } = await loadAi();
  if (typeof given !== "object" || given === null) {
    const problem = `The tools must be an object with each under its name, and are ${given === null ? "null" : typeof given}.`;
    throw new AgenticError("toolShed", `These tools of the AI SDK cannot run here: ${problem}`, {
      problems: [problem],
    });
  }
  const problems: string[] = [];
  const bridged: ToolImpl[] = [];
  for (const [name, tool] of Object.entries(given as ToolSet)) {
    const why = unusable(tool);
    if (why !== undefined) {
      problems.push(`"${name}" ${why}.`);
      continue;
    }
    try {
      const schema = asSchema<unknown>(tool.inputSchema);
      const input: JsonSchema = await schema.jsonSchema;
      bridged.push(bridge(name, tool, input, (value) => schema.validate?.(value), options));
    } catch (error) {
      problems.push(`"${name}" has an inputSchema that cannot be read: ${messageOf(error)}.`);
    }
  }
  if (problems.length === 0) return bridged;
  const message = `These tools of the AI SDK cannot run here: ${problems.join(" ")}`;
  throw new AgenticError("toolShed", message, { problems });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

type AiTool = ToolSet[string];

function unusable(tool: AiTool | null | undefined): string | undefined {
  if (typeof tool !== "object" || tool === null) return "is no tool";
  if (tool.type === "provider" && tool.isProviderExecuted) return "is run by its provider";
  if (tool.execute === undefined) return "has no execute: its client runs it";
  return typeof tool.execute === "function" ? undefined : "has an execute that is no function";
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
      ...(tool.needsApproval && { asks: (args: ToolArguments) => needsApproval(tool, args, ownContext) }),
    },
    execute: (args, ctx) => run(tool, args, ctx, validate, ownContext),
  };
}

/** Where it cannot be told at once, it does. */
function needsApproval({ needsApproval: needs }: AiTool, args: ToolArguments, context: object): boolean {
  if (typeof needs !== "function") return needs === true;
  try {
    return needs(args, { toolCallId: "", messages: [], context }) !== false;
  } catch {
    return true;
  }
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
  yield { type: "result", result: await resultOf(ctx.names.tool, tool, ctx.callId, input, output) };
}

/** What is no JSON is no reason for a call to fail that goes on. */
function progressOf(value: unknown): ToolEvent {
  let data: JsonValue | undefined;
  try {
    data = asJson(value);
  } catch {
    return { type: "progress" };
  }
  return { type: "progress", ...(typeof data === "string" ? { text: data } : { data }) };
}

async function resultOf(
  name: string,
  tool: AiTool,
  toolCallId: string,
  input: unknown,
  output: unknown,
): Promise<ToolCallResult> {
  let json: JsonValue | undefined;
  try {
    json = asJson(output);
  } catch (cause) {
    const message = `It ran, and gave what is no JSON: ${messageOf(cause)}`;
    throw new ToolError("execution", name, message, { cause });
  }
  if (tool.toModelOutput === undefined) return new ToolCallResult(toContent(json), { output: json });
  const shown: ModelOutput = await tool.toModelOutput({ toolCallId, input, output });
  const { content, errorDetail } = fromModelOutput(shown);
  return new ToolCallResult(content, { output: json, errorDetail });
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
