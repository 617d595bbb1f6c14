import type { ModelRequest } from "@shedkit/provider";
import {
  activationAnchors,
  isReasoningModel,
  reasoningEffort,
  withoutRepeats,
  withShortDescriptions,
} from "@shedkit/provider/adapter";
import {
  type CompiledOutput,
  type CompiledTool,
  compileOutput,
  schemaDialects,
  ToolCompiler,
} from "@shedkit/provider/schema";
import { countMedia, normalizeTranscript, wellFormed, withoutMedia } from "@shedkit/provider/transcript";
import { type JsonValue, type Message, toolName } from "@shedkit/types";
import type { Item } from "./content.js";
import { inputItems } from "./items.js";

/** What a server turned out not to take. */
export interface Refused {
  readonly params: ReadonlySet<string>;
  /** Strict tools, or the schema of one. */
  readonly strict: boolean;
  /** The most characters of a tool's description. */
  readonly descriptions?: number;
  /** The schema of an answer. */
  readonly schema: boolean;
  /** Tools that become available in the middle of the input. */
  readonly additionalTools: boolean;
  /** Images and files. */
  readonly media: boolean;
  /** Names of images and files that it could not read. */
  readonly unreadable: ReadonlySet<string>;
}

export const nothingRefused: Refused = {
  params: new Set(),
  strict: false,
  schema: false,
  additionalTools: false,
  media: false,
  unreadable: new Set(),
};

/** Where a request goes. */
export interface Target {
  /** OpenAI itself, not a server that speaks like it. */
  own: boolean;
  refused: Refused;
  /** The configuration says that the model takes text alone. */
  textOnly: boolean;
}

/** A request's body, and what is needed to read its answer. */
export interface ResponsesRequest {
  body: { [key: string]: JsonValue };
  compiler: ToolCompiler;
  /** By their names on the wire. */
  tools: ReadonlyMap<string, CompiledTool>;
  output: CompiledOutput | undefined;
  warnings: { tool?: string | undefined; message: string }[];
}

/** Builds the body of a request. The same request gives the same bytes. */
export function responsesRequest(request: ModelRequest, target: Target): ResponsesRequest {
  const { refused } = target;
  const dialect = target.own && !refused.strict ? schemaDialects.openai : schemaDialects.compatible;
  const compiler = new ToolCompiler(dialect);
  const textOnly = target.textOnly || target.refused.media;
  const normal = normalizeTranscript(request.messages, { model: request.model.name });
  const readable = withoutMedia(normal, textOnly ? undefined : target.refused.unreadable);
  const transcript = withoutRepeats(readable, request.tools);
  const declared = declare(request, transcript, compiler, target);
  const byName = new Map(declared.compiled.map((tool) => [tool.name, tool]));
  const warnings: ResponsesRequest["warnings"] = declared.compiled.flatMap(({ name, notes }) =>
    notes.map((message) => ({ tool: name, message })),
  );
  const input = inputItems(transcript, {
    names: compiler,
    encode: (name, args) => byName.get(name)?.encode(args) ?? args,
    reveals: declared.reveals,
  });
  if (input.length === 0)
    input.push({ type: "message", role: "user", content: [{ type: "input_text", text: "(Nothing was said.)" }] });
  const output = request.output === undefined ? undefined : compileOutput(request.output, dialect);
  const plain = output !== undefined && refused.schema;
  const instructions = [...(request.system ? [wellFormed(request.system)] : []), ...(plain ? [asked(output)] : [])];
  const body: ResponsesRequest["body"] = {
    model: request.model.name,
    ...(instructions.length > 0 && { instructions: instructions.join("\n\n") }),
    ...(declared.tools.length > 0 && { tools: declared.tools }),
    ...params(request, target, warnings),
    ...(output !== undefined && { text: { format: plain ? { type: "json_object" } : outputFormat(output) } }),
    input,
    store: false, // the log is ours
    stream: true,
  };
  for (const key of target.refused.params) delete body[key];
  for (const message of output?.notes ?? []) warnings.push({ message });
  const media = countMedia(request.messages, textOnly ? undefined : target.refused.unreadable);
  const why = textOnly ? "takes text alone" : "could not read some images";
  if (media > 0) warnings.push({ message: `${request.model.name} ${why}; ${media} images or files were left out` });
  const tools = new Map(declared.compiled.map((tool) => [tool.wireName, tool]));
  return { body, compiler, tools, output, warnings };
}

interface Declared {
  tools: Item[];
  compiled: readonly CompiledTool[];
  reveals(toolCallId: string): readonly Item[];
}

/**
 * Declares the tools. Where the model takes tools in the middle of its input, an active tool is declared behind the
 * result that activated it, so that nothing of what is cached changes; else at the end of the list.
 */
function declare(
  { tools, model }: ModelRequest,
  transcript: readonly Message[],
  compiler: ToolCompiler,
  target: Target,
): Declared {
  const own = [...(tools.shed ? [tools.shed] : []), ...tools.tools].map((tool) => compiler.compile(tool));
  const compiled = withShortDescriptions(own, target.refused.descriptions);
  const shed = tools.shed && compiled[0];
  const active = tools.shed ? compiled.slice(1) : compiled;
  const inPlace = target.own && !target.refused.additionalTools && takesAdditionalTools(model.name);
  if (shed === undefined || !inPlace) return { tools: compiled.map(functionTool), compiled, reveals: () => [] };

  const anchors = activationAnchors(tools, transcript);
  const reveals = new Map<string, Item[]>();
  const open: Item[] = [functionTool(shed)];
  for (const [i, tool] of active.entries()) {
    const own = tools.tools[i];
    const anchor = own === undefined ? undefined : anchors.get(toolName(own));
    if (anchor === undefined) open.push(functionTool(tool));
    else reveals.set(anchor, [...(reveals.get(anchor) ?? []), functionTool(tool)]);
  }
  return { tools: open, compiled, reveals: (id) => reveals.get(id) ?? [] };
}

/** Models from gpt-5.4 on. */
function takesAdditionalTools(name: string): boolean {
  return /^gpt-(5\.([4-9]|\d\d)|[6-9])/.test(name);
}

/** `strict` is always said: absent, it counts as true here. */
function functionTool({ wireName, description, parameters, strict }: CompiledTool): Item {
  return { type: "function", name: wireName, description, parameters: parameters as JsonValue, strict };
}

/** For servers without schemas: the schema is said, and the answer checked where it was asked for. */
function asked(output: CompiledOutput): string {
  return `Answer with JSON alone, which fits this schema: ${JSON.stringify(output.schema)}`;
}

function outputFormat(output: CompiledOutput): Item {
  return { type: "json_schema", name: "answer", schema: output.schema as JsonValue, strict: output.strict };
}

function params(
  { params, model, sessionId }: ModelRequest,
  { own }: Target,
  warnings: ResponsesRequest["warnings"],
): Item {
  const out: Item = {};
  const leftOut: string[] = [];
  const reasons = isReasoningModel(model.name);
  if (params.maxTokens !== undefined) out.max_output_tokens = params.maxTokens;
  for (const [key, name] of [
    ["temperature", "temperature"],
    ["topP", "top_p"],
  ] as const) {
    const value = params[key];
    if (value === undefined) continue;
    if (own && reasons) leftOut.push(key);
    else out[name] = value;
  }
  for (const key of ["topK", "repeatPenalty", "seed", "stop"] as const)
    if (params[key] !== undefined) leftOut.push(key);
  const effort = reasons || !own ? reasoningEffort(params.thinking, model.name) : undefined;
  // A summary is all of the thinking that can be seen; it is asked for where thinking is.
  if (effort !== undefined) out.reasoning = { effort, ...(params.thinking !== "off" && own && { summary: "auto" }) };
  if (own && reasons) out.include = ["reasoning.encrypted_content"];
  if (own && sessionId !== undefined) out.prompt_cache_key = sessionId;
  for (const key of leftOut) warnings.push({ message: `${model.name} takes no ${key} here; it was left out` });
  return out;
}
