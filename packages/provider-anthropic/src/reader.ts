import type { AnswerSink } from "@shedkit/provider/adapter";
import type { FinishReason, JsonValue, Usage } from "@shedkit/types";
import type { WireBlock, WireDelta, WireEvent, WireUsage } from "./wire.js";

const STOP: { readonly [reason: string]: FinishReason } = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "toolUse",
  pause_turn: "pause",
  refusal: "refusal",
  sensitive: "refusal",
};

/** The tool that stands for an answer with a schema where the model has nothing better. */
export const ANSWER_TOOL = "answer";

/** A block that is kept as it comes: server tools and their results, what a newer API adds. */
interface Opaque {
  block: { [key: string]: JsonValue | undefined };
  json: string;
}

/** Reads the events of one answer into a sink. */
export class EventReader {
  readonly #sink: AnswerSink;
  readonly #answerTool: () => boolean;
  readonly #opaque = new Map<string, Opaque>();
  readonly #citations = new Map<string, JsonValue[]>();
  readonly #signatures = new Map<string, string>();
  /** Keys of `answer` calls, which are read as the answer's text. */
  readonly #answers = new Set<string>();
  /** What a call's block began with, in case no delta follows. */
  readonly #inputs = new Map<string, string>();
  #starts = 0;
  /** The place and the key of the block that came last. */
  #index: number | undefined;
  #lastKey = "";

  /** `answerTool` tells whether calls of {@link ANSWER_TOOL} are the answer. */
  constructor(sink: AnswerSink, answerTool: () => boolean) {
    this.#sink = sink;
    this.#answerTool = answerTool;
  }

  read(event: WireEvent): void {
    switch (event.type) {
      case "message_start":
        // A gateway that begins anew leaves what was whole, and what of texts was shown.
        if (this.#starts++ > 0) this.#sink.end(false);
        this.#index = undefined;
        this.#usage(event.message?.usage);
        return;
      case "content_block_start":
        this.#start(this.#key(event.index), event.content_block);
        return;
      case "content_block_delta":
        this.#delta(this.#key(event.index), event.delta);
        return;
      case "content_block_stop":
        this.#stop(this.#key(event.index));
        return;
      case "message_delta":
        this.#usage(event.usage);
        this.#finish(event.delta?.stop_reason, event.delta?.stop_details?.explanation);
    }
  }

  #key(index: number): string {
    if (index !== this.#index) {
      this.#index = index;
      this.#lastKey = `${this.#starts}:${index}`;
    }
    return this.#lastKey;
  }

  #start(key: string, block: WireBlock): void {
    switch (block.type) {
      case "text":
        this.#sink.text(key, text(block.text));
        if (Array.isArray(block.citations)) for (const citation of block.citations) this.#cite(key, citation);
        return;
      case "thinking":
        this.#sink.thinking(key, text(block.thinking));
        this.#sign(key, text(block.signature));
        return;
      case "redacted_thinking":
        this.#sink.extras(key, { redacted: text(block.data) });
        return;
      case "tool_use": {
        const whole = JSON.stringify(block.input ?? {});
        if (whole !== "{}") this.#inputs.set(key, whole);
        if (this.#answerTool() && block.name === ANSWER_TOOL) this.#answers.add(key);
        else this.#sink.call(key, text(block.id), text(block.name));
        return;
      }
      default:
        this.#opaque.set(key, { block, json: "" });
    }
  }

  #delta(key: string, delta: WireDelta): void {
    const opaque = this.#opaque.size === 0 ? undefined : this.#opaque.get(key);
    if (opaque !== undefined) {
      this.#grow(opaque, delta);
      return;
    }
    switch (delta.type) {
      case "text_delta":
        this.#sink.text(key, text(delta.text));
        return;
      case "thinking_delta":
        this.#sink.thinking(key, text(delta.thinking));
        return;
      case "signature_delta":
        this.#sign(key, text(delta.signature));
        return;
      case "citations_delta":
        this.#cite(key, delta.citation ?? null);
        return;
      case "input_json_delta":
        if (text(delta.partial_json) !== "") this.#inputs.delete(key);
        if (this.#answers.has(key)) this.#sink.text(key, text(delta.partial_json));
        else this.#sink.callDelta(key, text(delta.partial_json));
    }
  }

  #stop(key: string): void {
    const opaque = this.#opaque.get(key);
    const input = this.#inputs.get(key);
    if (opaque !== undefined) {
      this.#opaque.delete(key);
      this.#sink.output({ type: "opaque", provider: "anthropic", block: whole(opaque) });
    } else if (input !== undefined) {
      if (this.#answers.has(key)) this.#sink.text(key, input);
      else this.#sink.callDelta(key, input);
    }
    this.#sink.close(key);
  }

  #grow(opaque: Opaque, delta: WireDelta): void {
    if (delta.type === "input_json_delta") {
      opaque.json += text(delta.partial_json);
      return;
    }
    const { block } = opaque;
    // What a newer API adds: its texts grow, the rest is set.
    for (const [field, value] of Object.entries(delta)) {
      if (field === "type") continue;
      const before = block[field];
      block[field] = typeof before === "string" && typeof value === "string" ? before + value : value;
    }
  }

  #sign(key: string, piece: string): void {
    if (piece === "") return;
    const signature = (this.#signatures.get(key) ?? "") + piece;
    this.#signatures.set(key, signature);
    this.#sink.extras(key, { signature });
  }

  #cite(key: string, citation: JsonValue): void {
    const citations = [...(this.#citations.get(key) ?? []), citation];
    this.#citations.set(key, citations);
    this.#sink.extras(key, { citations }, "text");
  }

  #usage(wire: WireUsage | null | undefined): void {
    if (!wire) return;
    const usage: Partial<Usage> = {};
    if (typeof wire.input_tokens === "number") usage.input = wire.input_tokens;
    if (typeof wire.output_tokens === "number") usage.output = wire.output_tokens;
    if (typeof wire.cache_read_input_tokens === "number") usage.cacheRead = wire.cache_read_input_tokens;
    if (typeof wire.cache_creation_input_tokens === "number") usage.cacheWrite = wire.cache_creation_input_tokens;
    const reasoning = wire.output_tokens_details?.thinking_tokens;
    if (typeof reasoning === "number") usage.reasoning = reasoning;
    this.#sink.usage(usage);
  }

  #finish(reason: string | null | undefined, explanation: string | null | undefined): void {
    if (!reason) return;
    const finish = STOP[reason] ?? this.#sink.unknownReason(reason, "stop");
    if (finish === "refusal" && explanation) this.#sink.output({ type: "refusal", text: explanation });
    if (finish === "stop" && this.#sink.hasCalls) this.#sink.finished = "toolUse";
    else if (finish === "toolUse" && !this.#sink.hasCalls)
      this.#sink.finished = "stop"; // the answer came as a call
    else this.#sink.finished = finish;
  }
}

function whole({ block, json }: Opaque): JsonValue {
  if (json === "") return block;
  try {
    return { ...block, input: JSON.parse(json) as JsonValue };
  } catch {
    return { ...block, input: {} };
  }
}

function text(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
