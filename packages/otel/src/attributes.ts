import type { Attributes } from "@opentelemetry/api";
import type { SessionObservation } from "@shedkit/agent";
import { AgenticError, type FinishReason, type JsonValue, type Usage } from "@shedkit/types";
import { inputMessages } from "./messages.js";

// Names from OpenTelemetry's semantic conventions for generative AI.

type ModelCallStarted = Extract<SessionObservation, { type: "modelCallStarted" }>;

/** The values that the conventions give to well-known backends; any other goes by its own id. */
const PROVIDERS: { readonly [id: string]: string } = { "openai-chat": "openai", "openai-responses": "openai" };

function providerName(id: string): string {
  return PROVIDERS[id] ?? id;
}

/** What a model is asked, apart from the words. */
export function requestAttributes({ sessionId, provider, request }: ModelCallStarted): Attributes {
  const { model, params, output } = request;
  return defined({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": providerName(provider),
    "gen_ai.request.model": model.name,
    "gen_ai.conversation.id": sessionId,
    "gen_ai.request.max_tokens": params.maxTokens,
    "gen_ai.request.temperature": params.temperature,
    "gen_ai.request.top_p": params.topP,
    "gen_ai.request.top_k": params.topK,
    "gen_ai.request.seed": params.seed,
    "gen_ai.request.stop_sequences": params.stop && [...params.stop],
    "gen_ai.output.type": output ? "json" : undefined,
  });
}

/** The words: the system prompt, the conversation, the tools. */
export function requestContents({ request }: ModelCallStarted): Attributes {
  const { system, messages, tools } = request;
  const names = [...(tools.shed ? [tools.shed] : []), ...tools.tools].map((tool) =>
    tool.type === "single" ? tool.definition.name : tool.name,
  );
  return defined({
    "gen_ai.system_instructions": system === undefined ? undefined : json([{ type: "text", content: system }]),
    "gen_ai.input.messages": json(inputMessages(messages)),
    "gen_ai.tool.definitions": names.length === 0 ? undefined : json(names.map((name) => ({ type: "function", name }))),
  });
}

/** Tokens; the conventions count the cached ones among the input. */
export function usageAttributes(usage: Usage): Attributes {
  return {
    "gen_ai.usage.input_tokens": inputTokens(usage),
    "gen_ai.usage.output_tokens": usage.output,
    "gen_ai.usage.cache_read.input_tokens": usage.cacheRead,
    "gen_ai.usage.cache_creation.input_tokens": usage.cacheWrite,
  };
}

export function inputTokens(usage: Usage): number {
  return usage.input + usage.cacheRead + usage.cacheWrite;
}

const FINISH: { readonly [reason in FinishReason]: string } = {
  stop: "stop",
  length: "length",
  toolUse: "tool_calls",
  refusal: "content_filter",
  contentFilter: "content_filter",
  pause: "pause",
  aborted: "aborted",
};

export function finishName(reason: FinishReason | undefined): string {
  return reason === undefined ? "error" : FINISH[reason];
}

/** What kind of error it is: never what it says, which may quote the conversation. */
export function errorAttributes(error: AgenticError): Attributes {
  const type = AgenticError.is(error, "generation") ? error.details.kind : error.code;
  return defined({ "error.type": type, "http.response.status_code": error.status });
}

/** What the caller gave with a turn. */
export function metadataAttributes(metadata: { readonly [key: string]: JsonValue }): Attributes {
  const entries = Object.entries(metadata).map(([key, value]) => {
    const plain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
    return [`shedkit.metadata.${key}`, plain ? value : json(value)];
  });
  return Object.fromEntries(entries);
}

export function json(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}

function defined(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
