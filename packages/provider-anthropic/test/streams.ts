import type { ModelEvent } from "@shedkit/provider";

/** A stream as the API's documents describe it: thinking, hidden thinking, text, a call, cumulative usage. */
export const STREAM = [
  {
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      content: [],
      model: "claude-x",
      stop_reason: null,
      usage: { input_tokens: 25, cache_read_input_tokens: 100, cache_creation_input_tokens: 7, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
  { type: "ping" },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Wo liegt " } },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Zürich?" } },
  { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "EqQB" } },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: { type: "redacted_thinking", data: "EmwK" } },
  { type: "content_block_stop", index: 1 },
  { type: "content_block_start", index: 2, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 2, delta: { type: "text_delta", text: "I look 🌍" } },
  { type: "content_block_delta", index: 2, delta: { type: "text_delta", text: " it up." } },
  { type: "content_block_stop", index: 2 },
  { type: "content_block_start", index: 3, content_block: { type: "tool_use", id: "toolu_1", name: "map", input: {} } },
  { type: "content_block_delta", index: 3, delta: { type: "input_json_delta", partial_json: "" } },
  { type: "content_block_delta", index: 3, delta: { type: "input_json_delta", partial_json: '{"place": "Zür' } },
  { type: "content_block_delta", index: 3, delta: { type: "input_json_delta", partial_json: 'ich"}' } },
  { type: "content_block_stop", index: 3 },
  { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 60 } },
  { type: "message_stop" },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join("");

export const EVENTS: readonly ModelEvent[] = [
  { type: "start", warnings: [] },
  { type: "thinkingDelta", block: 0, text: "Wo liegt " },
  { type: "thinkingDelta", block: 0, text: "Zürich?" },
  { type: "output", block: 0, output: { type: "thinking", text: "Wo liegt Zürich?", signature: "EqQB" } },
  { type: "output", block: 1, output: { type: "thinking", text: "", redacted: "EmwK" } },
  { type: "textDelta", block: 2, text: "I look 🌍" },
  { type: "textDelta", block: 2, text: " it up." },
  { type: "output", block: 2, output: { type: "text", text: "I look 🌍 it up." } },
  { type: "toolCallStart", block: 3, id: "toolu_1", name: "map" },
  { type: "toolCallDelta", block: 3, json: '{"place": "Zür' },
  { type: "toolCallDelta", block: 3, json: 'ich"}' },
  {
    type: "output",
    block: 3,
    output: {
      type: "toolCall",
      id: "toolu_1",
      providerCallId: "toolu_1",
      name: "map",
      arguments: { place: "Zürich" },
    },
  },
  {
    type: "usage",
    usage: { input: 25, output: 60, cacheRead: 100, cacheWrite: 7, reasoning: 0, total: 192 },
  },
  { type: "finish", reason: "toolUse" },
];

/** Before what says that the answer is whole, in UTF-16 units: no more than that in bytes. */
export const LAST = STREAM.indexOf('"stop_reason":"tool_use"');

const USE = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
const FOUND = {
  type: "web_search_tool_result",
  tool_use_id: "srvtoolu_1",
  content: [{ type: "web_search_result", url: "https://z.example", title: "Zürich", encrypted_content: "Eq" }],
};
const CITATION = {
  type: "web_search_result_location",
  url: "https://z.example",
  cited_text: "Zürich is",
  title: "Zürich",
};
const NOVEL = { type: "future_block", note: "a" };

/** What a server ran comes as blocks of its own, sources with their text, a refusal at the end; what is new is kept. */
export const SERVED = [
  {
    type: "message_start",
    message: { id: "msg_2", role: "assistant", content: [], usage: { input_tokens: 9, output_tokens: 0 } },
  },
  { type: "content_block_start", index: 0, content_block: USE },
  { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"query": "Zür' } },
  { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: 'ich"}' } },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: FOUND },
  { type: "content_block_stop", index: 1 },
  { type: "future_event", anything: 1 },
  { type: "content_block_start", index: 2, content_block: { type: "text", text: "", citations: [] } },
  { type: "content_block_delta", index: 2, delta: { type: "citations_delta", citation: CITATION } },
  { type: "content_block_delta", index: 2, delta: { type: "text_delta", text: "Zürich is a city." } },
  { type: "content_block_stop", index: 2 },
  { type: "content_block_start", index: 3, content_block: NOVEL },
  { type: "content_block_delta", index: 3, delta: { type: "future_delta", note: "b" } },
  { type: "content_block_stop", index: 3 },
  {
    type: "message_delta",
    delta: { stop_reason: "refusal", stop_details: { type: "refusal", explanation: "No more of it." } },
    usage: { input_tokens: 300, output_tokens: 40, server_tool_use: { web_search_requests: 1 } },
  },
  { type: "message_stop" },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join("");

const opaque = (block: number, value: object) =>
  ({ type: "output", block, output: { type: "opaque", provider: "anthropic", block: value as never } }) as const;

export const SERVED_EVENTS: readonly ModelEvent[] = [
  { type: "start", warnings: [] },
  opaque(0, { ...USE, input: { query: "Zürich" } }),
  opaque(1, FOUND),
  { type: "textDelta", block: 2, text: "Zürich is a city." },
  { type: "output", block: 2, output: { type: "text", text: "Zürich is a city.", citations: [CITATION] } },
  opaque(3, { type: "future_block", note: "ab" }),
  { type: "output", block: 4, output: { type: "refusal", text: "No more of it." } },
  { type: "usage", usage: { input: 300, output: 40, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 340 } },
  { type: "finish", reason: "refusal" },
];

export const SERVED_LAST = SERVED.indexOf('"stop_reason":"refusal"');
