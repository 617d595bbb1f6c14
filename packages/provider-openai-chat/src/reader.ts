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
  content_filter: "contentFilter",
  refusal: "refusal",
};

/** Reads the chunks of one answer into a sink. */
export class ChunkReader {
  readonly #sink: AnswerSink;
  readonly #provider: string;
  readonly #calls: CallReader;
  readonly #tags = new ThinkTags();
  #finish: string | undefined;
  #thoughts = 0;
  #texts = 0;
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
    const reason = this.#finish === "error" ? undefined : (FINISH[this.#finish] ?? "stop");
    if (reason === "stop" && this.#sink.hasCalls) this.#sink.finished = "toolUse";
    else if (reason === "stop" && this.#refused) this.#sink.finished = "refusal";
    else this.#sink.finished = reason;
  }

  #delta(delta: WireDelta): void {
    const thought = delta.reasoning_content ?? delta.reasoning;
    if (typeof thought === "string" && thought !== "") {
      const field = typeof delta.reasoning_content === "string" ? "reasoning_content" : "reasoning";
      this.#think(thought, { field });
    }
    for (const detail of delta.reasoning_details ?? []) this.#detail(detail as { [key: string]: JsonValue });
    if (typeof delta.content === "string") this.#text(delta.content);
    else for (const part of delta.content ?? []) this.#part(part);
    if (delta.refusal) {
      this.#refused = true;
      this.#sink.refusal("refusal", delta.refusal);
    }
    if (delta.annotations?.length) this.#cite(delta.annotations as JsonValue[]);
    for (const { image_url } of delta.images ?? []) this.#image(image_url?.url ?? "");
    if (delta.tool_calls?.length) {
      this.#closeText();
      for (const call of delta.tool_calls) this.#calls.read(call);
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
        {},
      );
    } else if (typeof part.text === "string") {
      this.#text(part.text);
    }
  }

  #text(text: string): void {
    for (const piece of this.#tags.push(text)) this.#say(piece.kind, piece.text);
  }

  #say(kind: "text" | "thinking", text: string): void {
    if (kind === "thinking") {
      this.#think(text, {});
      return;
    }
    this.#closeThinking();
    if (this.#sink.textOf(`text:${this.#texts}`) === undefined) this.#texts++;
    this.#sink.text(`text:${this.#texts}`, text);
  }

  #think(text: string, data: { field?: string }): void {
    if (text === "") return;
    if (!this.#thinking) {
      this.#thinking = true;
      this.#thoughts++;
      this.#sink.close(`text:${this.#texts}`);
    }
    const key = `thinking:${this.#thoughts}`;
    this.#sink.thinking(key, text);
    if (data.field !== undefined && this.#details.length === 0) {
      this.#sink.extras(key, { providerData: { [this.#provider]: { field: data.field } } });
    }
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
    if (this.#thoughts === 0) this.#thoughts = 1;
    const providerData = { [this.#provider]: { details: this.#details } };
    this.#sink.extras(`thinking:${this.#thoughts}`, { providerData });
  }

  #cite(citations: readonly JsonValue[]): void {
    const key = `text:${this.#texts}`;
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
    this.#sink.close(`text:${this.#texts}`);
  }

  #closeThinking(): void {
    if (!this.#thinking) return;
    this.#thinking = false;
    this.#sink.close(`thinking:${this.#thoughts}`);
    this.#details = [];
  }
}
