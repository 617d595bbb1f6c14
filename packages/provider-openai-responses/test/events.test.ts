import type { ModelEvent } from "@shedkit/provider";
import { Secret } from "@shedkit/provider";
import { rechunkFetch } from "@shedkit/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ResponsesProvider } from "../src/index.js";
import { question } from "./open.js";

const REASONING = {
  id: "rs_1",
  type: "reasoning",
  summary: [{ type: "summary_text", text: "Wo liegt Zürich?" }],
  encrypted_content: "gAAA",
};
const CALL = { id: "fc_1", type: "function_call", call_id: "call_1", name: "map" };
const part = { type: "output_text", text: "I look 🌍 it up.", annotations: [] };
const message = { id: "msg_1", type: "message", role: "assistant", phase: "commentary" };
const response = { id: "resp_1", object: "response", model: "m", error: null };

/** A stream as the API's documents describe it: a summary of sealed reasoning, text, a call, usage at the end. */
const STREAM = [
  { type: "response.created", response: { ...response, status: "in_progress" } },
  { type: "response.output_item.added", output_index: 0, item: { ...REASONING, summary: [], encrypted_content: "" } },
  { type: "response.reasoning_summary_part.added", output_index: 0, summary_index: 0, part: { text: "" } },
  { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 0, delta: "Wo liegt " },
  { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 0, delta: "Zürich?" },
  { type: "response.reasoning_summary_text.done", output_index: 0, summary_index: 0, text: "Wo liegt Zürich?" },
  { type: "response.output_item.done", output_index: 0, item: REASONING },
  { type: "response.output_item.added", output_index: 1, item: { ...message, status: "in_progress", content: [] } },
  { type: "response.content_part.added", output_index: 1, content_index: 0, part: { ...part, text: "" } },
  { type: "response.output_text.delta", output_index: 1, content_index: 0, delta: "I look 🌍" },
  { type: "response.output_text.delta", output_index: 1, content_index: 0, delta: " it up." },
  { type: "response.output_text.done", output_index: 1, content_index: 0, text: part.text },
  { type: "response.content_part.done", output_index: 1, content_index: 0, part },
  { type: "response.output_item.done", output_index: 1, item: { ...message, status: "completed", content: [part] } },
  { type: "response.output_item.added", output_index: 2, item: { ...CALL, arguments: "" } },
  { type: "response.function_call_arguments.delta", output_index: 2, delta: '{"place": "Zür' },
  { type: "response.function_call_arguments.delta", output_index: 2, delta: 'ich"}' },
  { type: "response.function_call_arguments.done", output_index: 2, arguments: '{"place": "Zürich"}' },
  { type: "response.output_item.done", output_index: 2, item: { ...CALL, arguments: '{"place": "Zürich"}' } },
  {
    type: "response.completed",
    response: {
      ...response,
      status: "completed",
      usage: {
        input_tokens: 132,
        input_tokens_details: { cached_tokens: 100 },
        output_tokens: 60,
        output_tokens_details: { reasoning_tokens: 20 },
        total_tokens: 192,
      },
    },
  },
]
  .map((event, sequence_number) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`)
  .join("");

const EVENTS: readonly ModelEvent[] = [
  { type: "start", warnings: [] },
  { type: "thinkingDelta", block: 0, text: "Wo liegt " },
  { type: "thinkingDelta", block: 0, text: "Zürich?" },
  {
    type: "output",
    block: 0,
    output: {
      type: "thinking",
      text: "Wo liegt Zürich?",
      providerData: { "openai-responses": { item: REASONING } },
    },
  },
  { type: "textDelta", block: 1, text: "I look 🌍" },
  { type: "textDelta", block: 1, text: " it up." },
  {
    type: "output",
    block: 1,
    output: {
      type: "text",
      text: "I look 🌍 it up.",
      providerData: { "openai-responses": { phase: "commentary" } },
    },
  },
  { type: "toolCallStart", block: 2, id: "call_1", name: "map" },
  { type: "toolCallDelta", block: 2, json: '{"place": "Zür' },
  { type: "toolCallDelta", block: 2, json: 'ich"}' },
  {
    type: "output",
    block: 2,
    output: { type: "toolCall", id: "call_1", providerCallId: "call_1", name: "map", arguments: { place: "Zürich" } },
  },
  {
    type: "usage",
    usage: { input: 32, output: 60, cacheRead: 100, cacheWrite: 0, reasoning: 20, total: 192 },
  },
  { type: "finish", reason: "toolUse" },
];

/** Before what says that the answer is whole, in UTF-16 units: no more than that in bytes. */
const LAST = STREAM.indexOf('"type":"response.completed"');

async function read(body: string, sizes: number[]): Promise<ModelEvent[]> {
  const answer = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
  const provider = ResponsesProvider.withConfig({
    apiKey: new Secret("k"),
    baseUrl: "http://model.invalid/v1",
    fetch: rechunkFetch(sizes, answer),
    maxRetries: 0,
  });
  const events: ModelEvent[] = [];
  for await (const event of provider.stream(question())) events.push(event);
  return events;
}

describe("a stream of the wire", () => {
  it("is these events, one for one", async () => {
    expect(await read(STREAM, [STREAM.length * 4])).toEqual(EVENTS);
  });

  it("is the same events wherever its bytes are cut, and however its lines end", async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.constantFrom("\n", "\r\n", "\r"), async (sizes, end) => {
        expect(await read(STREAM.replaceAll("\n", end), sizes)).toEqual(EVENTS);
      }),
      { numRuns: 60 },
    );
    expect(await read(STREAM, [1])).toEqual(EVENTS);
  });

  it("that ends early ends in a failure, behind what came of the same events", async () => {
    const bytes = new TextEncoder().encode(STREAM);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: LAST }), async (length) => {
        const events = await read(new TextDecoder().decode(bytes.slice(0, length)), [97]);
        expect(events.at(-1)).toMatchObject({ type: "failure", error: { details: { kind: "network" } } });
        const deltas = events.filter(({ type }) => type.endsWith("Delta"));
        expect(EVENTS.filter(({ type }) => type.endsWith("Delta")).slice(0, deltas.length)).toEqual(deltas);
      }),
      { numRuns: 60 },
    );
  });
});
