import type { JsonValue, Usage } from "@shedkit/types";
import type { Gate } from "../gate.js";
import { argumentsText, chunks, type ScriptedPart, usageOf } from "../scripted-answer.js";
import { codeOf } from "./openai-chat.js";
import { refuseResponses } from "./openai-responses-rules.js";
import type { Speech, Wire } from "./wire.js";

/** OpenAI Responses. */
export const openaiResponses: Wire = {
  name: "openai-responses",
  path: "/responses",
  frame: (json) => `event: ${(JSON.parse(json) as { type: string }).type}\ndata: ${json}\n\n`,
  end: "",
  speak,
  error: (code, message) => ({ error: { message, type: code, code, param: null } }),
  refuse: refuseResponses,
};

type Item = { [key: string]: JsonValue };

function* speak({ step, body, request, chunkSize }: Speech): Generator<string | Gate, void, void> {
  let sequence = 0;
  let deltas = 0;
  const output: Item[] = [];
  const send = (event: { [key: string]: JsonValue }): string =>
    openaiResponses.frame(JSON.stringify({ ...event, sequence_number: sequence++ }));
  const response = (status: string, more: Item = {}): Item => ({
    id: `resp_${request}`,
    object: "response",
    created_at: 0,
    model: body.model ?? "",
    status,
    output,
    error: null,
    incomplete_details: null,
    ...more,
  });
  const added = (item: Item): string => send({ type: "response.output_item.added", output_index: output.length, item });
  const done = (item: Item): string => {
    const event = send({ type: "response.output_item.done", output_index: output.length, item });
    output.push(item);
    return event;
  };
  yield send({ type: "response.created", response: response("in_progress") });
  yield send({ type: "response.in_progress", response: response("in_progress") });
  for (const part of joinText(step.parts)) {
    const at = { output_index: output.length };
    if (Array.isArray(part)) {
      const id = `msg_${request}_${output.length}`;
      const place = { ...at, item_id: id, content_index: 0 };
      yield added({ type: "message", id, status: "in_progress", role: "assistant", content: [] });
      yield send({ type: "response.content_part.added", ...place, part: textPart("") });
      let text = "";
      for (const piece of part) {
        if (typeof piece !== "string") {
          yield piece;
          continue;
        }
        for (const delta of chunks(piece, chunkSize)) {
          deltas++;
          text += delta;
          yield send({ type: "response.output_text.delta", ...place, delta, logprobs: [] });
        }
      }
      yield send({ type: "response.output_text.done", ...place, text, logprobs: [] });
      yield send({ type: "response.content_part.done", ...place, part: textPart(text) });
      yield done({ type: "message", id, status: "completed", role: "assistant", content: [textPart(text)] });
    } else if ("thinking" in part) {
      const id = `rs_${request}_${output.length}`;
      const sealed: Item = part.signature === undefined ? {} : { encrypted_content: part.signature };
      const place = { ...at, item_id: id, summary_index: 0 };
      yield added({ type: "reasoning", id, summary: [] });
      yield send({ type: "response.reasoning_summary_part.added", ...place, part: { type: "summary_text", text: "" } });
      for (const delta of chunks(part.thinking, chunkSize)) {
        deltas++;
        yield send({ type: "response.reasoning_summary_text.delta", ...place, delta });
      }
      yield send({ type: "response.reasoning_summary_text.done", ...place, text: part.thinking });
      yield done({ type: "reasoning", id, summary: [{ type: "summary_text", text: part.thinking }], ...sealed });
    } else if ("call" in part) {
      yield* speakCall(part, {
        at,
        request,
        chunkSize,
        send,
        added,
        done,
        index: output.length,
        count: () => deltas++,
      });
    } else if ("output" in part && part.output.type === "opaque") {
      yield added(part.output.block as Item);
      yield done(part.output.block as Item);
    } else if ("output" in part && part.output.type === "refusal") {
      const id = `msg_${request}_${output.length}`;
      const refusal = { type: "refusal", refusal: part.output.text };
      yield added({ type: "message", id, status: "in_progress", role: "assistant", content: [] });
      yield send({ type: "response.refusal.delta", ...at, item_id: id, content_index: 0, delta: part.output.text });
      yield done({ type: "message", id, status: "completed", role: "assistant", content: [refusal] });
    } else if ("wait" in part) {
      yield part.wait;
    } else if ("fail" in part) {
      const code = codeOf(part.fail.details);
      yield send({ type: "error", code, message: part.fail.message, param: null });
      yield send({
        type: "response.failed",
        response: response("failed", { error: { code, message: part.fail.message } }),
      });
      return;
    }
  }
  const usage = usageBody(usageOf(step.usage, deltas));
  if (step.finish === "length" || step.finish === "contentFilter") {
    const reason = step.finish === "length" ? "max_output_tokens" : "content_filter";
    yield send({
      type: "response.incomplete",
      response: response("incomplete", { usage, incomplete_details: { reason } }),
    });
  } else {
    yield send({ type: "response.completed", response: response("completed", { usage }) });
  }
}

interface CallSpeech {
  at: { output_index: number };
  request: number;
  index: number;
  chunkSize: number;
  send(event: { [key: string]: JsonValue }): string;
  added(item: Item): string;
  done(item: Item): string;
  count(): void;
}

function* speakCall(part: Extract<ScriptedPart, { call: string }>, speech: CallSpeech): Generator<string, void, void> {
  const { at, request, index, send } = speech;
  const call_id = part.id ?? `call_${request}_${index}`;
  const id = `fc_${request}_${index}`;
  const json = argumentsText(part);
  const item = { type: "function_call", id, call_id, name: part.call };
  yield speech.added({ ...item, status: "in_progress", arguments: "" });
  for (const delta of chunks(json, speech.chunkSize)) {
    speech.count();
    yield send({ type: "response.function_call_arguments.delta", ...at, item_id: id, delta });
  }
  yield send({ type: "response.function_call_arguments.done", ...at, item_id: id, arguments: json });
  yield speech.done({ ...item, status: "completed", arguments: json });
}

/** Neighbouring texts, and the gates between them, are one message. */
function joinText(parts: readonly ScriptedPart[]): (Exclude<ScriptedPart, string> | (string | Gate)[])[] {
  const joined: (Exclude<ScriptedPart, string> | (string | Gate)[])[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === "string") {
      if (Array.isArray(last)) last.push(part);
      else joined.push([part]);
    } else if ("wait" in part && Array.isArray(last)) {
      last.push(part.wait);
    } else {
      joined.push(part);
    }
  }
  return joined;
}

function textPart(text: string): Item {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function usageBody(usage: Usage): Item {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
  };
}
