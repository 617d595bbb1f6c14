import type { ModelRequest } from "@shedkit/provider";
import { calledTools, isReasoningModel, reasoningEffort, withShortDescriptions } from "@shedkit/provider/adapter";
import {
  type CompiledOutput,
  type CompiledTool,
  compileOutput,
  schemaDialects,
  ToolCompiler,
} from "@shedkit/provider/schema";
import { countMedia } from "@shedkit/provider/transcript";
import type { JsonValue, Tool } from "@shedkit/types";
import { type Quirks, type WireMessage, wireMessages } from "./messages.js";

/** What a server turned out not to take. */
export interface Refused {
  /** Parameters of the body. */
  readonly params: ReadonlySet<string>;
  readonly strict: boolean;
  readonly schema: boolean;
  /** The usual name of the limit of output; there are two. */
  readonly limitName: boolean;
  /** The most characters of a tool's description. */
  readonly descriptions?: number;
  /** Names of images and files that it could not read. */
  readonly unreadable: ReadonlySet<string>;
  readonly quirks: Quirks;
}

export const nothingRefused: Refused = {
  params: new Set(),
  strict: false,
  schema: false,
  limitName: false,
  unreadable: new Set(),
  quirks: {
    shortIds: false,
    toolNames: false,
    emptyText: false,
    answerFirst: false,
    declareTools: false,
    textOnly: false,
  },
};

/** Where a request goes. */
export interface Target {
  /** The backend's id. */
  provider: string;
  /** OpenAI itself, not a server that speaks like it. */
  own: boolean;
  refused: Refused;
  /** The configuration says that the model takes text alone. */
  textOnly: boolean;
}

/** A request's body, and what is needed to read its answer. */
export interface ChatRequest {
  body: { [key: string]: JsonValue };
  compiler: ToolCompiler;
  /** By their names on the wire. */
  tools: ReadonlyMap<string, CompiledTool>;
  output: CompiledOutput | undefined;
  warnings: { tool?: string | undefined; message: string }[];
}

/** Builds the body of a request. The same request gives the same bytes. */
export function chatRequest(request: ModelRequest, target: Target): ChatRequest {
  const strict = target.own && !target.refused.strict;
  const dialect = strict ? schemaDialects.openai : schemaDialects.compatible;
  const compiler = new ToolCompiler(dialect);
  const offered = [...(request.tools.shed ? [request.tools.shed] : []), ...request.tools.tools];
  const noneToCall = offered.length === 0 && target.refused.quirks.declareTools;
  const declared = noneToCall ? calledTools(request.messages) : offered;
  const compiled = withShortDescriptions(
    declared.map((tool: Tool) => compiler.compile(tool)),
    target.refused.descriptions,
  );
  const byName = new Map(compiled.map((tool) => [tool.name, tool]));
  const warnings: ChatRequest["warnings"] = compiled.flatMap(({ name, notes }) =>
    notes.map((message) => ({ tool: name, message })),
  );
  const output = request.output === undefined ? undefined : compileOutput(request.output, dialect);
  const quirks = { ...target.refused.quirks, textOnly: target.textOnly || target.refused.quirks.textOnly };
  const messages = wireMessages(request, {
    provider: target.provider,
    anyOrder: target.own,
    quirks,
    unreadable: target.refused.unreadable,
    names: compiler,
    encode: (name, args) => byName.get(name)?.encode(args) ?? args,
  });
  const plain = output !== undefined && target.refused.schema;
  const body: ChatRequest["body"] = {
    model: request.model.name,
    messages: plain ? withInstruction(messages, output) : messages,
    ...(compiled.length > 0 && { tools: compiled.map(wireTool) }),
    ...(noneToCall && compiled.length > 0 && { tool_choice: "none" }),
    ...params(request, target, warnings),
    // OpenRouter, and others before Claude: what is cached has to be asked for.
    ...(!target.own && /^anthropic\/|claude/.test(request.model.name) && { cache_control: { type: "ephemeral" } }),
    ...(output !== undefined && { response_format: plain ? { type: "json_object" } : responseFormat(output) }),
    stream: true,
    stream_options: { include_usage: true },
  };
  for (const key of target.refused.params) delete body[key];
  for (const message of output?.notes ?? []) warnings.push({ message });
  const media = countMedia(request.messages, quirks.textOnly ? undefined : target.refused.unreadable);
  const why = quirks.textOnly ? "takes text alone" : "could not read some images";
  if (media > 0) warnings.push({ message: `${request.model.name} ${why}; ${media} images or files were left out` });
  return { body, compiler, tools: new Map(compiled.map((tool) => [tool.wireName, tool])), output, warnings };
}

function wireTool({ wireName, description, parameters, strict }: CompiledTool): JsonValue {
  const spec = { name: wireName, description, parameters: parameters as JsonValue };
  return { type: "function", function: strict ? { ...spec, strict } : spec };
}

function responseFormat(output: CompiledOutput): JsonValue {
  const schema = output.schema as JsonValue;
  return { type: "json_schema", json_schema: { name: "answer", schema, strict: output.strict } };
}

/** For servers without schemas: the schema is said, and the answer checked where it was asked for. */
function withInstruction(messages: readonly WireMessage[], output: CompiledOutput): WireMessage[] {
  const text = `Answer with JSON alone, which fits this schema: ${JSON.stringify(output.schema)}`;
  const [first, ...rest] = messages;
  if (first?.role !== "system") return [{ role: "system", content: text }, ...messages];
  return [{ role: "system", content: `${String(first.content)}\n\n${text}` }, ...rest];
}

function params(
  { params, model, sessionId }: ModelRequest,
  { own, refused }: Target,
  warnings: ChatRequest["warnings"],
): { [key: string]: JsonValue } {
  const out: { [key: string]: JsonValue } = {};
  const set = (key: string, value: JsonValue | undefined): void => {
    if (value !== undefined) out[key] = value;
  };
  const reasons = own && isReasoningModel(model.name);
  set(own !== refused.limitName ? "max_completion_tokens" : "max_tokens", params.maxTokens);
  const sampling = { temperature: params.temperature, top_p: params.topP, stop: params.stop as JsonValue | undefined };
  for (const [key, value] of Object.entries(sampling)) {
    if (!reasons) set(key, value);
    else if (value !== undefined) warnings.push({ message: `${model.name} takes no ${key}; it was left out` });
  }
  set("seed", params.seed);
  if (!own) {
    set("top_k", params.topK);
    set("repetition_penalty", params.repeatPenalty);
  } else if (params.topK !== undefined || params.repeatPenalty !== undefined) {
    warnings.push({ message: "OpenAI takes no topK and no repeatPenalty; they were left out" });
  }
  if (reasons) set("reasoning_effort", reasoningEffort(params.thinking, model.name));
  // Others know an effort, where they know one; "off" they mostly do not.
  else if (!own && params.thinking !== "off") set("reasoning_effort", reasoningEffort(params.thinking, model.name));
  if (own) set("prompt_cache_key", sessionId);
  return out;
}
