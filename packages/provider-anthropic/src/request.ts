import type { ModelRequest } from "@shedkit/provider";
import { calledTools, withoutRepeats } from "@shedkit/provider/adapter";
import {
  type CompiledOutput,
  type CompiledTool,
  compileOutput,
  schemaDialects,
  ToolCompiler,
} from "@shedkit/provider/schema";
import { countMedia } from "@shedkit/provider/transcript";
import type { JsonValue } from "@shedkit/types";
import { markCache } from "./cache.js";
import { type Block, textBlock } from "./content.js";
import { transcriptOf, wireMessages } from "./messages.js";
import type { Abilities } from "./models.js";
import { ANSWER_TOOL } from "./reader.js";
import { thinkingOf } from "./thinking.js";
import { wireTools } from "./tools.js";

/** What a request depends on beside itself. */
export interface Target {
  abilities: Abilities;
  /** Parameters that the server refuses. */
  refused: ReadonlySet<string>;
  /** Names of images and files that the server cannot read. */
  unreadable: ReadonlySet<string>;
  /** The most tokens that the model can say. */
  maxOutput: number;
  /** The real API, not a server that speaks like it. */
  own: boolean;
  /** The beta features that the configuration asks for. */
  betas: readonly string[];
}

/** A request's body, and what is needed to read its answer. */
export interface MessagesRequest {
  body: { [key: string]: JsonValue };
  compiler: ToolCompiler;
  /** By their names on the wire. */
  tools: ReadonlyMap<string, CompiledTool>;
  output: CompiledOutput | undefined;
  /** The answer comes as a call of a tool. */
  answerTool: boolean;
  /** Headers that go with the body. */
  headers: { [name: string]: string };
  warnings: { tool?: string | undefined; message: string }[];
}

/** Builds the body of a request. The same request gives the same bytes. */
export function messagesRequest(request: ModelRequest, target: Target): MessagesRequest {
  const { abilities } = target;
  const compiler = new ToolCompiler(schemaDialects.anthropic);
  const transcript = withoutRepeats(transcriptOf(request, abilities.media, target.unreadable), request.tools);
  const noneToCall = !abilities.undeclaredCalls && !request.tools.shed && request.tools.tools.length === 0;
  const offered = noneToCall ? { tools: calledTools(transcript), activations: [] } : request.tools;
  const declared = wireTools(offered, transcript, compiler, abilities.deferral);
  const byName = new Map(declared.compiled.map((tool) => [tool.name, tool]));
  const warnings: MessagesRequest["warnings"] = declared.compiled.flatMap(({ name, notes }) =>
    notes.map((message) => ({ tool: name, message })),
  );
  const messages = wireMessages(transcript, {
    midSystem: abilities.midSystem,
    unsigned: !target.own,
    names: compiler,
    encode: (name, args) => byName.get(name)?.encode(args) ?? args,
    reveals: declared.reveals,
  });
  if (messages.length === 0) messages.push({ role: "user", content: [textBlock("(Nothing was said.)")] });
  const output =
    request.output === undefined ? undefined : compileOutput(request.output, schemaDialects.anthropicOutput);
  const answerTool = output !== undefined && !(abilities.outputFormat && output.strict);
  const tools = [...declared.tools, ...(answerTool ? [answerToolOf(output)] : [])];
  const system: Block[] = request.system?.trim() ? [textBlock(request.system)] : [];
  markCache(system, tools, messages);
  const body: MessagesRequest["body"] = {
    model: request.model.name,
    ...params(request, target, warnings),
    ...(system.length > 0 && { system }),
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && { tool_choice: { type: noneToCall && !answerTool ? "none" : "auto" } }),
    messages: messages as unknown as JsonValue,
    stream: true,
  };
  const format = answerTool || output === undefined ? undefined : outputFormat(output);
  if (format !== undefined) body.output_config = { ...(body.output_config as Block | undefined), format };
  if (answerTool && body.thinking === undefined && abilities.forcedCalls) body.tool_choice = { type: "any" };
  for (const key of target.refused) delete body[key];
  for (const message of output?.notes ?? []) warnings.push({ message });
  const media = countMedia(request.messages, abilities.media ? target.unreadable : undefined);
  const why = abilities.media ? "could not read some images" : "takes text alone";
  if (media > 0) warnings.push({ message: `${request.model.name} ${why}; ${media} images or files were left out` });
  const byWireName = new Map(declared.compiled.map((tool) => [tool.wireName, tool]));
  return { body, compiler, tools: byWireName, output, answerTool, headers: betaHeaders(body, target), warnings };
}

/** Between calls, models that think by a budget think only where asked to; the others do of themselves. */
const INTERLEAVED = "interleaved-thinking-2025-05-14";

function betaHeaders({ thinking, tools }: MessagesRequest["body"], target: Target): MessagesRequest["headers"] {
  const byBudget = (thinking as Block | undefined)?.type === "enabled";
  if (!target.own || !byBudget || tools === undefined) return {};
  return { "anthropic-beta": [...target.betas, INTERLEAVED].join(",") };
}

function answerToolOf(output: CompiledOutput): Block {
  const description = "Gives the final answer. Call it, and nothing else, when you have it.";
  return { name: ANSWER_TOOL, description, input_schema: output.schema as Block };
}

function outputFormat(output: CompiledOutput): Block {
  return { type: "json_schema", schema: output.schema as Block };
}

interface Params {
  max_tokens: number;
  thinking?: Block;
  output_config?: Block;
  temperature?: number;
  top_p?: number;
  top_k?: number;
  stop_sequences?: string[];
  [key: string]: JsonValue | undefined;
}

function params(
  { params, model }: ModelRequest,
  target: Target,
  warnings: MessagesRequest["warnings"],
): { [key: string]: JsonValue } {
  const { maxTokens, thinking, effort, on } = thinkingOf(params, target.maxOutput, target.abilities);
  const out: Params = { max_tokens: maxTokens };
  if (thinking !== undefined) out.thinking = thinking;
  if (effort !== undefined) out.output_config = { effort };
  const stops = params.stop?.filter((stop) => stop.trim() !== "");
  if (stops?.length) out.stop_sequences = stops;
  const leftOut: string[] = [];
  if (on) {
    for (const key of ["temperature", "topP", "topK"] as const) if (params[key] !== undefined) leftOut.push(key);
  } else {
    if (params.temperature !== undefined) out.temperature = Math.min(1, params.temperature);
    else if (params.topP !== undefined) out.top_p = params.topP;
    if (params.temperature !== undefined && params.topP !== undefined) leftOut.push("topP"); // one of the two is the most
    if (params.topK !== undefined) out.top_k = params.topK;
  }
  for (const key of ["seed", "repeatPenalty"] as const) if (params[key] !== undefined) leftOut.push(key);
  for (const key of leftOut) warnings.push({ message: `${model.name} takes no ${key} here; it was left out` });
  return out as { [key: string]: JsonValue };
}
