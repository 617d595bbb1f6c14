import type { ModelEvent } from "@shedkit/provider";

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
export const STREAM = [
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

export const EVENTS: readonly ModelEvent[] = [
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
export const LAST = STREAM.indexOf('"type":"response.completed"');

const RAN = { id: "ws_1", type: "web_search_call", status: "completed", action: { type: "search", query: "Zürich" } };
const SOURCE = { type: "url_citation", url: "https://z.example", title: "Zürich", start_index: 0, end_index: 6 };
const said = { type: "output_text", text: "Zürich is a city.", annotations: [SOURCE] };
const refused = { type: "refusal", refusal: "No more of it." };
const whole = { id: "msg_2", type: "message", role: "assistant", status: "completed", content: [said, refused] };

/** What the server ran is an item, sources come behind their text, a refusal is a part; events of a newer API. */
export const SERVED = [
  { type: "response.created", response: { ...response, status: "in_progress" } },
  { type: "response.queued", response: { ...response, status: "queued" } },
  { type: "response.output_item.added", output_index: 0, item: { ...RAN, status: "in_progress" } },
  { type: "response.web_search_call.searching", output_index: 0, item_id: "ws_1" },
  { type: "response.web_search_call.completed", output_index: 0, item_id: "ws_1" },
  { type: "response.output_item.done", output_index: 0, item: RAN },
  { type: "response.output_item.added", output_index: 1, item: { ...whole, status: "in_progress", content: [] } },
  { type: "response.content_part.added", output_index: 1, content_index: 0, part: { ...said, text: "" } },
  { type: "response.output_text.delta", output_index: 1, content_index: 0, delta: "Zürich is a city." },
  {
    type: "response.output_text.annotation.added",
    output_index: 1,
    content_index: 0,
    annotation_index: 0,
    annotation: SOURCE,
  },
  { type: "response.output_text.done", output_index: 1, content_index: 0, text: said.text },
  { type: "response.refusal.delta", output_index: 1, content_index: 1, delta: "No more" },
  { type: "response.refusal.delta", output_index: 1, content_index: 1, delta: " of it." },
  { type: "response.refusal.done", output_index: 1, content_index: 1, refusal: refused.refusal },
  { type: "response.future_event", anything: 1 },
  { type: "response.output_item.done", output_index: 1, item: whole },
  {
    type: "response.completed",
    response: { ...response, status: "completed", usage: { input_tokens: 300, output_tokens: 40, total_tokens: 340 } },
  },
]
  .map((event, sequence_number) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`)
  .join("");

export const SERVED_EVENTS: readonly ModelEvent[] = [
  { type: "start", warnings: [] },
  { type: "output", block: 0, output: { type: "opaque", provider: "openai-responses", block: RAN } },
  { type: "textDelta", block: 1, text: "Zürich is a city." },
  { type: "textDelta", block: 2, text: "No more" },
  { type: "textDelta", block: 2, text: " of it." },
  { type: "output", block: 1, output: { type: "text", text: "Zürich is a city.", citations: [SOURCE] } },
  { type: "output", block: 2, output: { type: "refusal", text: "No more of it." } },
  { type: "usage", usage: { input: 300, output: 40, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 340 } },
  { type: "finish", reason: "refusal" },
];

export const SERVED_LAST = SERVED.indexOf('"type":"response.completed"');
