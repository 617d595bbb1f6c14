import type { FinishReason, JsonValue, ModelOutput, Usage } from "@shedkit/types";
import type { Gate } from "../gate.js";
import { argumentsText, chunks, usageOf } from "../scripted-answer.js";
import { refuseAnthropic } from "./anthropic-rules.js";
import { codeOf } from "./openai-chat.js";
import type { Speech, Wire } from "./wire.js";

/** Anthropic Messages. */
export const anthropic: Wire = {
  name: "anthropic",
  path: "/messages",
  frame: (json) => `event: ${(JSON.parse(json) as { type: string }).type}\ndata: ${json}\n\n`,
  end: "",
  speak,
  error: (code, message) => ({ type: "error", error: { type: code, message } }),
  refuse: refuseAnthropic,
};

const STOP: { [reason in FinishReason]: string } = {
  stop: "end_turn",
  length: "max_tokens",
  toolUse: "tool_use",
  refusal: "refusal",
  contentFilter: "refusal",
  pause: "pause_turn",
  aborted: "end_turn",
};

function* speak({ step, body, request, chunkSize }: Speech): Generator<string | Gate, void, void> {
  const send = (event: JsonValue): string => anthropic.frame(JSON.stringify(event));
  let index = -1;
  let deltas = 0;
  let calls = 0;
  const delta = (value: JsonValue): string => {
    deltas++;
    return send({ type: "content_block_delta", index, delta: value });
  };
  const start = (block: JsonValue): string => {
    index++;
    return send({ type: "content_block_start", index, content_block: block });
  };
  const usage = usageOf(step.usage, 1);
  yield send({
    type: "message_start",
    message: {
      id: `msg_${request}`,
      type: "message",
      role: "assistant",
      model: body.model ?? "",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usageBody(usage), output_tokens: 1 },
    },
  });
  yield send({ type: "ping" });
  let text = false;
  for (const part of step.parts) {
    if (typeof part !== "string" && text && !("wait" in part)) {
      text = false;
      yield send({ type: "content_block_stop", index });
    }
    if (typeof part === "string") {
      if (!text) yield start({ type: "text", text: "" });
      text = true;
      for (const piece of chunks(part, chunkSize)) yield delta({ type: "text_delta", text: piece });
    } else if ("thinking" in part) {
      yield start({ type: "thinking", thinking: "", signature: "" });
      for (const piece of chunks(part.thinking, chunkSize)) yield delta({ type: "thinking_delta", thinking: piece });
      if (part.signature !== undefined) yield delta({ type: "signature_delta", signature: part.signature });
      yield send({ type: "content_block_stop", index });
    } else if ("call" in part) {
      yield start({ type: "tool_use", id: part.id ?? `toolu_${request}_${calls}`, name: part.call, input: {} });
      calls++;
      yield delta({ type: "input_json_delta", partial_json: "" });
      for (const piece of chunks(argumentsText(part), chunkSize)) {
        yield delta({ type: "input_json_delta", partial_json: piece });
      }
      yield send({ type: "content_block_stop", index });
    } else if ("output" in part) {
      yield start(blockOf(part.output));
      yield send({ type: "content_block_stop", index });
    } else if ("wait" in part) {
      yield part.wait;
    } else if ("fail" in part) {
      yield send(anthropic.error(codeOf(part.fail.details), part.fail.message));
      return;
    }
  }
  if (text) yield send({ type: "content_block_stop", index });
  yield send({
    type: "message_delta",
    delta: { stop_reason: STOP[step.finish ?? (calls > 0 ? "toolUse" : "stop")], stop_sequence: null },
    usage: { output_tokens: usageOf(step.usage, deltas).output },
  });
  yield send({ type: "message_stop" });
}

function blockOf(output: ModelOutput): JsonValue {
  if (output.type === "opaque") return output.block;
  if (output.type === "thinking") return { type: "redacted_thinking", data: output.redacted ?? "" };
  return { type: "text", text: output.type === "text" || output.type === "refusal" ? output.text : "" };
}

function usageBody(usage: Usage): { [key: string]: number } {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
  };
}
