import type { FinishReason, JsonValue, Usage } from "@shedkit/types";
import type { Gate } from "../gate.js";
import { argumentsText, chunks, usageOf } from "../scripted-answer.js";
import {
  object,
  objects,
  refuseFunction,
  refuseStrict,
  repeated,
  type Speech,
  type Wire,
  type WireBody,
} from "./wire.js";

/** OpenAI Chat Completions. Thinking goes in `reasoning_content`, as compatible servers send it. */
export const openaiChat: Wire = {
  name: "openai-chat",
  path: "/chat/completions",
  frame: (json) => `data: ${json}\n\n`,
  end: "data: [DONE]\n\n",
  speak,
  error: (code, message) => ({ error: { message, type: code, code, param: null } }),
  refuse,
};

const FINISH: { [reason in FinishReason]: string } = {
  stop: "stop",
  length: "length",
  toolUse: "tool_calls",
  refusal: "stop",
  contentFilter: "content_filter",
  pause: "stop",
  aborted: "stop",
};

function* speak({ step, body, request, chunkSize }: Speech): Generator<string | Gate, void, void> {
  const head = { id: `chatcmpl-${request}`, object: "chat.completion.chunk", created: 0, model: body.model ?? "" };
  const chunk = (delta: JsonValue, finish: string | null = null): string =>
    openaiChat.frame(JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] }));
  let calls = 0;
  let deltas = 0;
  yield chunk({ role: "assistant", content: "" });
  for (const part of step.parts) {
    if (typeof part === "string") {
      for (const piece of chunks(part, chunkSize)) {
        deltas++;
        yield chunk({ content: piece });
      }
    } else if ("thinking" in part) {
      for (const piece of chunks(part.thinking, chunkSize)) {
        deltas++;
        yield chunk({ reasoning_content: piece });
      }
    } else if ("call" in part) {
      const index = calls++;
      const id = part.id ?? `call_${request}_${index}`;
      yield chunk({ tool_calls: [{ index, id, type: "function", function: { name: part.call, arguments: "" } }] });
      for (const piece of chunks(argumentsText(part), chunkSize)) {
        deltas++;
        yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
      }
    } else if ("wait" in part) {
      yield part.wait;
    } else if ("fail" in part) {
      yield openaiChat.frame(JSON.stringify(openaiChat.error(codeOf(part.fail.details), part.fail.message)));
      return;
    } else if ("output" in part && part.output.type === "refusal") {
      yield chunk({ refusal: part.output.text });
    }
  }
  yield chunk({}, FINISH[step.finish ?? (calls > 0 ? "toolUse" : "stop")]);
  if (object(body.stream_options).include_usage === true) {
    yield openaiChat.frame(JSON.stringify({ ...head, choices: [], usage: usageBody(usageOf(step.usage, deltas)) }));
  }
  yield openaiChat.end;
}

function usageBody(usage: Usage): JsonValue {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

/** The provider's word for a failure, for the error event. */
export function codeOf(details: object): string {
  const kind = "kind" in details ? String(details.kind) : "";
  const codes: { [kind: string]: string } = {
    contextOverflow: "context_length_exceeded",
    rateLimit: "rate_limit_error",
    overloaded: "overloaded_error",
    badRequest: "invalid_request_error",
    refusal: "content_filter",
    timeout: "timeout_error",
  };
  return codes[kind] ?? "server_error";
}

function refuse(body: WireBody): string | undefined {
  if (typeof body.model !== "string" || body.model === "") return "you must provide a model parameter";
  const messages = objects(body.messages);
  if (messages.length === 0) return "messages must not be empty";
  return refuseMessages(messages) ?? refuseTools(objects(body.tools));
}

function refuseMessages(messages: readonly WireBody[]): string | undefined {
  let due: JsonValue[] = [];
  for (const [i, message] of messages.entries()) {
    if (message.role === "tool") {
      const at = due.indexOf(message.tool_call_id ?? null);
      if (at < 0) return `messages.${i}: a message of role "tool" must follow a message with its "tool_calls"`;
      due.splice(at, 1);
      continue;
    }
    if (due.length > 0) return `messages.${i}: tool_call_ids without a response: ${due.join(", ")}`;
    if (!["system", "developer", "user", "assistant"].includes(String(message.role)))
      return `messages.${i}: no such role`;
    const calls = objects(message.tool_calls);
    due = calls.map((call) => call.id ?? null);
    if (repeated(due) !== undefined) return `messages.${i}: two tool calls of one id`;
    const long = due.find((id) => typeof id !== "string" || id.length > 40);
    if (long !== undefined) return `messages.${i}: tool call id ${JSON.stringify(long)} is longer than 40 characters`;
    if (calls.length === 0 && (message.content === null || message.content === undefined || message.content === "")) {
      return `messages.${i}: content is missing`;
    }
    const bad = calls.find((call) => typeof object(call.function).arguments !== "string");
    if (bad !== undefined) return `messages.${i}: arguments must be a string`;
  }
  return due.length > 0 ? `tool_call_ids without a response: ${due.join(", ")}` : undefined;
}

function refuseTools(tools: readonly WireBody[]): string | undefined {
  const functions = tools.map((tool) => object(tool.function));
  const twice = repeated(functions.map((one) => one.name));
  if (twice !== undefined) return `tools: two functions named ${JSON.stringify(twice)}`;
  for (const one of functions) {
    const problem =
      refuseFunction(one.name, one.parameters, true) ??
      (one.strict === true ? refuseStrict(one.parameters) : undefined);
    if (problem !== undefined) return `tools: ${problem}`;
  }
  return undefined;
}
