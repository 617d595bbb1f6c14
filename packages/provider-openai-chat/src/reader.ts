import type { AnswerSink } from "@shedkit/provider/adapter";
import type { FinishReason, JsonValue } from "@shedkit/types";
import { CallReader } from "./calls.js";
import { ThinkTags } from "./think-tags.js";
import { readUsage } from "./usage.js";
import type { WireChunk, WireContent, WireDelta } from "./wire.js";

const FINISH: { readonly [reason: string]: FinishReason } = {
  stop: "stop",
  eos: "stop",
  end_turn: "stop",
  length: "length",
  max_tokens: "length",
  model_length: "length",
  tool_calls: "toolUse",
  tool: "toolUse",
  tool_use: "toolUse",
  function_call: "toolUse",
  model_context_window_exceeded: "length",
  content_filter: "contentFilter",
  sensitive: "contentFilter",
  refusal: "refusal",
};

/** The server broke off, and says so. */
const BROKEN = new Set(["error", "abort", "network_error", "insufficient_system_resource"]);

/** Reads the chunks of one answer into a sink. */
export class ChunkReader {
  readonly #sink: AnswerSink;
  readonly #provider: string;
  readonly #calls: CallReader;
  readonly #tags = new ThinkTags();
  #finish: string | undefined;
  #thoughts = 0;
  #texts = 0;
  #textKey = "";
  #thoughtKey = "";
  /** The field that the thought comes in. */
  #field: string | undefined;
  #thinking = false;
  #refused = false;
  #citations: readonly JsonValue[] = [];
  #details: { [key: string]: JsonValue }[] = [];

  constructor(sink: AnswerSink, provider: string) {
    this.#sink = sink;
    this.#provider = provider;
    this.#calls = new CallReader(sink);
  }

  read(chunk: WireChunk): void {
    const usage = chunk.usage ?? chunk.x_groq?.usage ?? chunk.choices?.[0]?.usage;
    if (usage) this.#sink.usage(readUsage(usage));
    const choice = chunk.choices?.[0];
    const delta = choice?.delta ?? choice?.message;
    if (delta) this.#delta(delta);
    // Perplexity repeats the whole list in every chunk.
    if (chunk.citations?.length && this.#citations.length === 0) this.#cite(chunk.citations.map((url) => ({ url })));
    if (choice?.finish_reason) this.#finish = choice.finish_reason;
  }

  /** The stream is over. */
  done(): void {
    for (const { kind, text } of this.#tags.flush()) this.#say(kind, text);
    if (this.#finish === undefined) return;
    const reason = BROKEN.has(this.#finish)
      ? undefined
      : (FINISH[this.#finish] ?? this.#sink.unknownReason(this.#finish, "stop"));
    if (reason === "stop" && this.#sink.hasCalls) this.#sink.finished = "toolUse";
    else if (reason === "stop" && this.#refused) this.#sink.finished = "refusal";
    else this.#sink.finished = reason;
  }

  #delta(delta: WireDelta): void {
    const thought = delta.reasoning_content ?? delta.reasoning;
    if (typeof thought === "string" && thought !== "") {
      const field = typeof delta.reasoning_content === "string" ? "reasoning_content" : "reasoning";
      this.#think(thought, field);
    }
    if (delta.reasoning_details) {
      for (const detail of delta.reasoning_details) if (detail) this.#detail(detail as { [key: string]: JsonValue });
    }
    if (typeof delta.content === "string") this.#text(delta.content);
    else if (Array.isArray(delta.content)) for (const part of delta.content) if (part) this.#part(part);
    if (delta.refusal) {
      this.#refused = true;
      this.#sink.refusal("refusal", delta.refusal);
    }
    if (delta.annotations?.length) this.#cite(delta.annotations as JsonValue[]);
    if (delta.images) for (const { image_url } of delta.images) this.#image(image_url?.url ?? "");
    if (delta.tool_calls?.length) {
      this.#closeText();
      for (const call of delta.tool_calls) if (call) this.#calls.read(call);
    } else if (delta.function_call) {
      this.#closeText();
      this.#calls.readLegacy(delta.function_call);
    }
  }

  #part(part: WireContent): void {
    if (part.type === "thinking") {
      const { thinking } = part;
      this.#think(
        typeof thinking === "string" ? thinking : (thinking ?? []).map(({ text }) => text ?? "").join(""),
        undefined,
      );
    } else if (typeof part.text === "string") {
      this.#text(part.text);
    }
  }

  #text(text: string): void {
    if (text === "") return; // some send it beside each piece of a thought
    if (this.#tags.over) this.#write(text);
    else for (const piece of this.#tags.push(text)) this.#say(piece.kind, piece.text);
  }

  #write(text: string): void {
    this.#closeThinking();
    if (this.#sink.textOf(this.#textKey) === undefined) this.#textKey = `text:${++this.#texts}`;
    this.#sink.text(this.#textKey, text);
  }

  #say(kind: "text" | "thinking", text: string): void {
    if (kind === "thinking") this.#think(text, undefined);
    else this.#write(text);
  }

  #think(text: string, field: string | undefined): void {
    if (text === "") return;
    if (!this.#thinking) {
      this.#thinking = true;
      this.#field = undefined;
      this.#thoughtKey = `thinking:${++this.#thoughts}`;
      this.#sink.close(this.#textKey);
    }
    this.#sink.thinking(this.#thoughtKey, text);
    if (field === this.#field || this.#details.length > 0) return;
    this.#field = field;
    if (field !== undefined) this.#sink.extras(this.#thoughtKey, { providerData: { [this.#provider]: { field } } });
  }

  /** Details come in pieces; those of one index are one, and all of them go back as they were. */
  #detail(detail: { [key: string]: JsonValue }): void {
    const last = this.#details.at(-1);
    if (last !== undefined && last.type === detail.type && last.index === detail.index && last.index !== undefined) {
      for (const [key, value] of Object.entries(detail)) {
        const grows = (key === "text" || key === "summary" || key === "data") && typeof value === "string";
        last[key] = grows && typeof last[key] === "string" ? last[key] + value : value;
      }
    } else {
      this.#details.push({ ...detail });
    }
    this.#thinking = true;
    if (this.#thoughts === 0) this.#thoughtKey = `thinking:${++this.#thoughts}`;
    const providerData = { [this.#provider]: { details: this.#details } };
    this.#sink.extras(this.#thoughtKey, { providerData });
  }

  #cite(citations: readonly JsonValue[]): void {
    const key = this.#textKey;
    if (this.#sink.textOf(key) === undefined) return;
    this.#citations = [...this.#citations, ...citations];
    this.#sink.extras(key, { citations: this.#citations }, "text");
  }

  #image(url: string): void {
    const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
    this.#closeText();
    if (mediaType !== undefined && data !== undefined) {
      this.#sink.output({ type: "image", source: { type: "base64", data }, mediaType });
    } else if (url !== "") {
      this.#sink.output({ type: "image", source: { type: "url", url }, mediaType: "image/*" });
    }
  }

  #closeText(): void {
    for (const { kind, text } of this.#tags.flush()) this.#say(kind, text);
    this.#closeThinking();
    this.#sink.close(this.#textKey);
  }

  #closeThinking(): void {
    if (!this.#thinking) return;
    this.#thinking = false;
    this.#sink.close(this.#thoughtKey);
    this.#details = [];
  }
}
