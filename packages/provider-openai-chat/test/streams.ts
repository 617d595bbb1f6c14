import type { ModelEvent } from "@shedkit/provider";

const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", system_fingerprint: "fp_1" };
const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...head,
  choices: [{ index: 0, delta, logprobs: null, finish_reason }],
});

/** A stream as the API's documents describe it, with the thinking that other servers send: text, two calls, usage. */
export const STREAM = [
  chunk({ role: "assistant", content: "", refusal: null }),
  chunk({ reasoning_content: "Wo liegt " }),
  chunk({ reasoning_content: "Zürich?" }),
  chunk({ content: "I look 🌍" }),
  chunk({ content: " it up." }),
  chunk({ tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "map", arguments: "" } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"place": "Zür' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: 'ich"}' } }] }),
  chunk({ tool_calls: [{ index: 1, id: "call_2", type: "function", function: { name: "now", arguments: "" } }] }),
  chunk({ tool_calls: [{ index: 1, function: { arguments: "{}" } }] }),
  chunk({}, "tool_calls"),
  {
    ...head,
    choices: [],
    usage: {
      prompt_tokens: 132,
      completion_tokens: 60,
      total_tokens: 192,
      prompt_tokens_details: { cached_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 20 },
    },
  },
  "[DONE]",
]
  .map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)
  .join("");

const call = (id: string, name: string, args: { [key: string]: string }) =>
  ({ type: "toolCall", id, providerCallId: id, name, arguments: args }) as const;

export const EVENTS: readonly ModelEvent[] = [
  { type: "start", warnings: [] },
  { type: "thinkingDelta", block: 0, text: "Wo liegt " },
  { type: "thinkingDelta", block: 0, text: "Zürich?" },
  {
    type: "output",
    block: 0,
    output: { type: "thinking", text: "Wo liegt Zürich?", providerData: { openai: { field: "reasoning_content" } } },
  },
  { type: "textDelta", block: 1, text: "I look 🌍" },
  { type: "textDelta", block: 1, text: " it up." },
  { type: "output", block: 1, output: { type: "text", text: "I look 🌍 it up." } },
  { type: "toolCallStart", block: 2, id: "call_1", name: "map" },
  { type: "toolCallDelta", block: 2, json: '{"place": "Zür' },
  { type: "toolCallDelta", block: 2, json: 'ich"}' },
  { type: "toolCallStart", block: 3, id: "call_2", name: "now" },
  { type: "toolCallDelta", block: 3, json: "{}" },
  { type: "output", block: 2, output: call("call_1", "map", { place: "Zürich" }) },
  { type: "output", block: 3, output: call("call_2", "now", {}) },
  {
    type: "usage",
    usage: { input: 32, output: 60, cacheRead: 100, cacheWrite: 0, reasoning: 20, total: 192 },
  },
  { type: "finish", reason: "toolUse" },
];

/** Before what says that the answer is whole, in UTF-16 units: no more than that in bytes. */
export const LAST = STREAM.indexOf('"finish_reason":"tool_calls"');

const SOURCE = {
  type: "url_citation",
  url_citation: { url: "https://z.example", title: "Zürich", start_index: 0, end_index: 6 },
};

/** Parts of content that are lists, sources, an image, a refusal; chunks without choices, with fields of a newer API. */
export const SERVED = [
  { ...head, choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
  chunk({ role: "assistant", content: [{ type: "thinking", thinking: [{ type: "text", text: "Zür" }] }] }),
  chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "ich?" }] }] }),
  chunk({ content: [{ type: "text", text: "Zürich" }] }),
  chunk({ content: " is a city.", obfuscation: "x7" }),
  chunk({ annotations: [SOURCE] }),
  chunk({ images: [{ type: "image_url", image_url: { url: "data:image/png;base64,iVBO" } }] }),
  chunk({ refusal: "No more" }),
  chunk({ refusal: " of it." }),
  chunk({}, "stop"),
  {
    ...head,
    choices: [],
    usage: { prompt_tokens: 300, completion_tokens: 40, total_tokens: 340 },
    service_tier: "default",
  },
  "[DONE]",
]
  .map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)
  .join("");

export const SERVED_EVENTS: readonly ModelEvent[] = [
  { type: "start", warnings: [] },
  { type: "thinkingDelta", block: 0, text: "Zür" },
  { type: "thinkingDelta", block: 0, text: "ich?" },
  { type: "output", block: 0, output: { type: "thinking", text: "Zürich?" } },
  { type: "textDelta", block: 1, text: "Zürich" },
  { type: "textDelta", block: 1, text: " is a city." },
  { type: "output", block: 1, output: { type: "text", text: "Zürich is a city.", citations: [SOURCE] } },
  {
    type: "output",
    block: 2,
    output: { type: "image", source: { type: "base64", data: "iVBO" }, mediaType: "image/png" },
  },
  { type: "textDelta", block: 3, text: "No more" },
  { type: "textDelta", block: 3, text: " of it." },
  { type: "output", block: 3, output: { type: "refusal", text: "No more of it." } },
  { type: "usage", usage: { input: 300, output: 40, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 340 } },
  { type: "finish", reason: "refusal" },
];

export const SERVED_LAST = SERVED.indexOf('"finish_reason":"stop"');
