/** What each wire sends for an answer, event by event, as its server writes it. An answer: `{ text: [pieces], calls: [{ id, name, json: [pieces] }] }`. */
const named = (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const plain = (event) => `data: ${JSON.stringify(event)}\n\n`;

let ids = 0;
const nextId = (prefix) => `${prefix}_${(++ids).toString(36).padStart(24, "0")}`;

function* chat({ text, calls }, usage, model) {
  const head = {
    ...{ id: nextId("chatcmpl"), object: "chat.completion.chunk", created: 1764000000, model, service_tier: "default" },
    system_fingerprint: "fp_a1b2c3d4e5",
  };
  const chunk = (delta, finish_reason = null) =>
    plain({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }], usage: null });
  yield chunk({ role: "assistant", content: text.length > 0 ? "" : null, refusal: null });
  for (const piece of text) yield chunk({ content: piece });
  for (const [index, { id, name, json }] of calls.entries()) {
    yield chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
    for (const piece of json) yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  yield chunk({}, calls.length > 0 ? "tool_calls" : "stop");
  const { input, output, cacheRead } = usage;
  const details = {
    prompt_tokens_details: { cached_tokens: cacheRead, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
  const sums = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  yield plain({ ...head, choices: [], usage: { ...sums, ...details } });
  yield "data: [DONE]\n\n";
}

function* responses({ text, calls }, usage, model) {
  let sequence_number = 0;
  const event = (type, more) => named({ type, sequence_number: sequence_number++, ...more });
  const output = [];
  const response = {
    ...{ id: nextId("resp"), object: "response", created_at: 1764000000, status: "in_progress", background: false },
    ...{ error: null, incomplete_details: null, instructions: null, max_output_tokens: null, model, output: [] },
    ...{ parallel_tool_calls: true, previous_response_id: null, reasoning: { effort: null, summary: null } },
    ...{ store: false, temperature: 1, text: { format: { type: "text" } }, tool_choice: "auto", tools: [], top_p: 1 },
    ...{ truncation: "disabled", usage: null, user: null, metadata: {}, service_tier: "default" },
  };
  yield event("response.created", { response });
  yield event("response.in_progress", { response });
  if (text.length > 0) {
    const output_index = output.length;
    const id = nextId("msg");
    const item = { id, type: "message", status: "in_progress", content: [], role: "assistant" };
    const at = { item_id: id, output_index, content_index: 0 };
    const part = { type: "output_text", annotations: [], logprobs: [], text: "" };
    yield event("response.output_item.added", { output_index, item });
    yield event("response.content_part.added", { ...at, part });
    for (const delta of text) yield event("response.output_text.delta", { ...at, delta, logprobs: [] });
    const whole = text.join("");
    const done = { ...part, text: whole };
    yield event("response.output_text.done", { ...at, text: whole, logprobs: [] });
    yield event("response.content_part.done", { ...at, part: done });
    output.push({ ...item, status: "completed", content: [done] });
    yield event("response.output_item.done", { output_index, item: output.at(-1) });
  }
  for (const { id: call_id, name, json, search } of calls) {
    const output_index = output.length;
    const whole = json.join("");
    if (search) {
      // A search that the client runs.
      const id = nextId("tsc");
      const item = { id, type: "tool_search_call", execution: "client", call_id, status: "in_progress", arguments: {} };
      yield event("response.output_item.added", { output_index, item });
      output.push({ ...item, status: "completed", arguments: JSON.parse(whole) });
      yield event("response.output_item.done", { output_index, item: output.at(-1) });
      continue;
    }
    const id = nextId("fc");
    const item = { id, type: "function_call", status: "in_progress", arguments: "", call_id, name };
    const at = { item_id: id, output_index };
    yield event("response.output_item.added", { output_index, item });
    for (const delta of json) yield event("response.function_call_arguments.delta", { ...at, delta });
    yield event("response.function_call_arguments.done", { ...at, arguments: whole, name });
    output.push({ ...item, status: "completed", arguments: whole });
    yield event("response.output_item.done", { output_index, item: output.at(-1) });
  }
  const sums = {
    ...{ input_tokens: usage.input, input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: 0 } },
    ...{ output_tokens: usage.output, output_tokens_details: { reasoning_tokens: 0 } },
    total_tokens: usage.input + usage.output,
  };
  yield event("response.completed", { response: { ...response, status: "completed", output, usage: sums } });
}

function* messages({ text, calls }, usage, model) {
  const { input, output, cacheRead, cacheWrite } = usage;
  const counts = {
    input_tokens: input - cacheRead - cacheWrite,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: 0 },
    output_tokens: 1,
    service_tier: "standard",
  };
  const message = {
    ...{ id: nextId("msg"), type: "message", role: "assistant", model, content: [] },
    ...{ stop_reason: null, stop_sequence: null, usage: counts },
  };
  yield named({ type: "message_start", message });
  let index = 0;
  if (text.length > 0) {
    yield named({ type: "content_block_start", index, content_block: { type: "text", text: "" } });
    yield named({ type: "ping" });
    for (const piece of text) {
      yield named({ type: "content_block_delta", index, delta: { type: "text_delta", text: piece } });
    }
    yield named({ type: "content_block_stop", index });
    index++;
  }
  for (const { id, name, json } of calls) {
    yield named({ type: "content_block_start", index, content_block: { type: "tool_use", id, name, input: {} } });
    for (const partial_json of json) {
      yield named({ type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json } });
    }
    yield named({ type: "content_block_stop", index });
    index++;
  }
  yield named({
    type: "message_delta",
    delta: { stop_reason: calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null },
    usage: { ...counts, output_tokens: output },
  });
  yield named({ type: "message_stop" });
}

export const WIRES = {
  chat: { path: "/chat/completions", events: chat },
  responses: { path: "/responses", events: responses },
  anthropic: { path: "/messages", events: messages },
};
