/** What each wire sends for an answer, as its server writes it. */
const named = (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const plain = (event) => `data: ${JSON.stringify(event)}\n\n`;
const token = (i) => ` word${i % 10}`;

function chatChunk(delta, finish_reason = null) {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
  const id = "chatcmpl-BfT4VnWZ1Kp0";
  const model = "gpt-4o-2024-08-06";
  const head = { id, object: "chat.completion.chunk", created: 1764000000, model, service_tier: "default" };
  return plain({ ...head, system_fingerprint: "fp_a1b2c3d4e5", choices, usage: null });
}

const streams = {
  "openai-chat": {
    begin: chatChunk({ role: "assistant", content: "", refusal: null }),
    token: (i) => chatChunk({ content: token(i) }),
    call: (name, json) => {
      const call = { index: 0, id: "call_9pw1qnYScqvGrCH58HWCvFH6", type: "function" };
      return (
        chatChunk({ tool_calls: [{ ...call, function: { name, arguments: "" } }] }) +
        json.map((piece) => chatChunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] })).join("")
      );
    },
    end: (tokens, calls) =>
      chatChunk({}, calls ? "tool_calls" : "stop") +
      plain({
        id: "x",
        choices: [],
        usage: { prompt_tokens: 9, completion_tokens: tokens, total_tokens: tokens + 9 },
      }) +
      "data: [DONE]\n\n",
  },
  "openai-responses": {
    begin: named({
      type: "response.output_item.added",
      sequence_number: 2,
      output_index: 0,
      item: { id: "msg_68b0f4a1c2d3", type: "message", status: "in_progress", role: "assistant", content: [] },
    }),
    token: (i) =>
      named({
        type: "response.output_text.delta",
        sequence_number: i + 4,
        item_id: "msg_68b0f4a1c2d3",
        output_index: 0,
        content_index: 0,
        delta: token(i),
        logprobs: [],
      }),
    call: (name, json) => {
      const item = { id: "fc_1", type: "function_call", call_id: "call_1", name, arguments: "" };
      const at = { output_index: 1, item_id: "fc_1" };
      return (
        named({ type: "response.output_item.added", output_index: 1, item }) +
        json.map((delta) => named({ type: "response.function_call_arguments.delta", ...at, delta })).join("") +
        named({ type: "response.output_item.done", output_index: 1, item: { ...item, arguments: json.join("") } })
      );
    },
    end: (tokens) =>
      named({
        type: "response.completed",
        response: { id: "resp_1", status: "completed", usage: { input_tokens: 9, output_tokens: tokens } },
      }),
  },
  anthropic: {
    begin:
      named({
        type: "message_start",
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          content: [],
          model: "m",
          usage: { input_tokens: 9, output_tokens: 1 },
        },
      }) + named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    token: (i) => named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: token(i) } }),
    call: (name, json) =>
      named({ type: "content_block_stop", index: 0 }) +
      named({
        type: "content_block_start",
        index: 1,
        content_block: { type: "tool_use", id: "toolu_1", name, input: {} },
      }) +
      json
        .map((partial_json) =>
          named({ type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json } }),
        )
        .join("") +
      named({ type: "content_block_stop", index: 1 }),
    end: (tokens, calls) =>
      (calls ? "" : named({ type: "content_block_stop", index: 0 })) +
      named({
        type: "message_delta",
        delta: { stop_reason: calls ? "tool_use" : "end_turn", stop_sequence: null },
        usage: { output_tokens: tokens },
      }) +
      named({ type: "message_stop" }),
  },
};

/** An answer of so many tokens on a wire, as byte pieces of so many events; with a call at its end if `tool` is given. */
export function answerPieces(wire, tokens, together, tool) {
  const stream = streams[wire];
  const encoder = new TextEncoder();
  const pieces = [];
  let text = stream.begin;
  for (let i = 0; i < tokens; i++) {
    text += stream.token(i);
    if ((i + 1) % together !== 0) continue;
    pieces.push(encoder.encode(text));
    text = "";
  }
  if (tool) text += stream.call(tool.name, tool.json);
  text += stream.end(tokens, tool !== undefined);
  pieces.push(encoder.encode(text));
  return pieces;
}

/** A `fetch` whose n-th response is the n-th of the answers, over and over. */
export function fetchOf(answers, seen = () => {}) {
  let turn = 0;
  return async (_url, init) => {
    seen(init);
    const pieces = answers[turn++ % answers.length];
    let at = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (at < pieces.length) controller.enqueue(pieces[at++]);
        else controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}
