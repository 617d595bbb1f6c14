import { type FailureContext, responseFailure } from "@shedkit/provider";
import type { AnswerSink } from "@shedkit/provider/adapter";
import type { FinishReason, JsonValue } from "@shedkit/types";
import type { WireEvent, WireItem, WireResponse, WireUsage } from "./wire.js";

/** The key of what only this wire reads, in provider data and opaque blocks. */
export const WIRE = "openai-responses";

/**
 * Reads the events of one answer into a sink. Items are known by their place: some gateways change their ids from one
 * event to the next.
 */
export class EventReader {
  readonly #sink: AnswerSink;
  readonly #context: FailureContext;
  /** Places of calls that have begun. */
  readonly #calls = new Set<string>();
  /** The content parts of each message that text has come for. */
  readonly #parts = new Map<number, Set<number>>();
  readonly #citations = new Map<string, JsonValue[]>();
  #refused = false;
  /** The place, the index and the key of the part that came last. */
  #place: number | undefined;
  #index = 0;
  #lastPart = "";

  constructor(sink: AnswerSink, context: FailureContext) {
    this.#sink = sink;
    this.#context = context;
  }

  read(event: WireEvent): void {
    const place = event.output_index ?? 0;
    const delta = event.delta ?? "";
    switch (event.type) {
      case "response.created":
        this.#anew();
        return;
      case "response.output_item.added":
        if (event.item?.type === "function_call") this.#begin(place, event.item);
        return;
      case "response.output_text.delta":
        this.#sink.text(this.#part(place, event.content_index), delta);
        return;
      case "response.refusal.delta":
        this.#refused = true;
        this.#sink.refusal(this.#part(place, event.content_index), delta);
        return;
      case "response.output_text.annotation.added":
        this.#cite(this.#part(place, event.content_index), event.annotation ?? null);
        return;
      case "response.reasoning_summary_part.added":
        if ((event.summary_index ?? 0) > 0) this.#sink.thinking(`${place}`, "\n\n");
        return;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        this.#sink.thinking(`${place}`, delta);
        return;
      case "response.function_call_arguments.delta":
        this.#sink.callDelta(`${place}`, delta);
        return;
      case "response.output_item.done":
        if (event.item !== undefined) this.#item(place, event.item);
        return;
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
        this.#end(event.type, event.response ?? {});
    }
  }

  /** A gateway that begins anew leaves what was whole, and what of texts was shown. */
  #anew(): void {
    this.#sink.end(false);
    this.#calls.clear();
    this.#parts.clear();
    this.#citations.clear();
    this.#place = undefined;
  }

  #begin(place: number, { call_id, name }: WireItem): void {
    if (this.#calls.has(`${place}`)) return;
    this.#calls.add(`${place}`);
    this.#sink.call(`${place}`, text(call_id), text(name));
  }

  #item(place: number, item: WireItem): void {
    const key = `${place}`;
    switch (item.type) {
      case "message":
        this.#message(place, item);
        return;
      case "function_call": {
        this.#begin(place, item);
        const json = text(item.arguments);
        if (this.#sink.textOf(key) === "") this.#sink.callDelta(key, json);
        this.#sink.close(key, json);
        return;
      }
      case "reasoning":
        this.#reasoning(key, item);
        return;
      default:
        this.#sink.output({ type: "opaque", provider: WIRE, block: item });
    }
  }

  #message(place: number, item: WireItem): void {
    const parts = Array.isArray(item.content) ? (item.content as unknown as WireItem[]) : [];
    const phase = typeof item.phase === "string" ? { providerData: { [WIRE]: { phase: item.phase } } } : {};
    for (const [index, part] of parts.entries()) {
      const key = `${place}:${index}`;
      const came = this.#parts.get(place)?.has(index) ?? false;
      if (part.type === "refusal") {
        if (!came)
          this.read({
            type: "response.refusal.delta",
            output_index: place,
            content_index: index,
            delta: text(part.refusal),
          });
        this.#sink.close(key);
      } else {
        if (!came) this.#sink.text(key, text(part.text));
        if (this.#sink.textOf(key) !== undefined) {
          const citations =
            Array.isArray(part.annotations) && part.annotations.length > 0 ? part.annotations : undefined;
          this.#sink.extras(key, { ...phase, ...(citations && { citations }) }, "text");
        }
        this.#sink.close(key);
      }
    }
  }

  /** Reasoning goes back as it came: its text is a summary, what counts is sealed. */
  #reasoning(key: string, item: WireItem): void {
    const { status: _, ...kept } = item;
    if (this.#sink.textOf(key) === undefined) this.#sink.thinking(key, textOfReasoning(item));
    if (item.encrypted_content) this.#sink.extras(key, { providerData: { [WIRE]: { item: kept } } });
    this.#sink.close(key);
  }

  #part(place: number, index = 0): string {
    if (place === this.#place && index === this.#index) return this.#lastPart;
    this.#place = place;
    this.#index = index;
    this.#lastPart = `${place}:${index}`;
    const parts = this.#parts.get(place) ?? new Set();
    this.#parts.set(place, parts.add(index));
    return this.#lastPart;
  }

  #cite(key: string, annotation: JsonValue): void {
    if (this.#sink.textOf(key) === undefined) return;
    const citations = [...(this.#citations.get(key) ?? []), annotation];
    this.#citations.set(key, citations);
    this.#sink.extras(key, { citations }, "text");
  }

  #end(type: string, response: WireResponse): void {
    if (response.usage) this.#usage(response.usage);
    const { error, incomplete_details } = response;
    if (type === "response.failed" || type === "response.cancelled") {
      const message = error?.message ?? (type === "response.cancelled" ? "The response was cancelled." : "");
      throw responseFailure({ code: error?.code ?? undefined, message }, this.#context);
    }
    this.#sink.finished = type === "response.incomplete" ? this.#incomplete(incomplete_details?.reason) : this.#whole();
  }

  #incomplete(reason: string | null | undefined): FinishReason {
    if (reason === "content_filter") return "contentFilter";
    if (!reason || reason === "max_output_tokens" || reason === "max_tokens") return "length";
    return this.#sink.unknownReason(reason, "length");
  }

  #whole(): FinishReason {
    if (this.#sink.hasCalls) return "toolUse";
    return this.#refused ? "refusal" : "stop";
  }

  #usage(wire: WireUsage): void {
    const cacheRead = wire.input_tokens_details?.cached_tokens ?? 0;
    const cacheWrite = wire.input_tokens_details?.cache_write_tokens ?? 0;
    this.#sink.usage({
      input: Math.max(0, (wire.input_tokens ?? 0) - cacheRead - cacheWrite),
      output: wire.output_tokens ?? 0,
      cacheRead,
      cacheWrite,
      reasoning: wire.output_tokens_details?.reasoning_tokens ?? 0,
    });
  }
}

function textOfReasoning(item: WireItem): string {
  const parts = [item.summary, item.content].flatMap((list) => (Array.isArray(list) ? list : []));
  return parts.map((part) => text((part as WireItem).text)).join("\n\n");
}

function text(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
