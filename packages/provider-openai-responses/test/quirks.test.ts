import { describe, expect, it } from "vitest";
import { exchange, outputs } from "./open.js";

const event = (type: string, more: object = {}) => JSON.stringify({ type: `response.${type}`, ...more });
const added = (output_index: number, item: object) => event("output_item.added", { output_index, item });
const done = (output_index: number, item: object) => event("output_item.done", { output_index, item });
const completed = (response: object = {}) => event("completed", { response: { status: "completed", ...response } });
const call = (more: object = {}) => ({ type: "function_call", id: "fc_1", call_id: "c1", name: "read", ...more });
const args = (delta: string, item_id = "fc_1", output_index = 0) =>
  event("function_call_arguments.delta", { output_index, item_id, delta });
const message = (text: string, more: object = {}) => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [] }],
  ...more,
});

async function read(...events: string[]) {
  return (await exchange([{ events }])).events;
}

describe("calls", () => {
  it("take their arguments from the item that is done", async () => {
    const events = await read(
      event("created", { response: {} }),
      added(0, call({ arguments: "" })),
      args('{"x":'),
      done(0, call({ arguments: '{"x":1}' })),
      completed(),
    );
    expect(outputs(events)).toMatchObject([{ id: "c1", name: "read", arguments: { x: 1 } }]);
    expect(events.at(-1)).toEqual({ type: "finish", reason: "toolUse" });
  });

  it("are known by their place, whatever becomes of their ids", async () => {
    const events = await read(
      added(0, call({ id: "a", arguments: "" })),
      added(1, call({ id: "b", call_id: "c2", arguments: "" })),
      args('{"x":1}', "other"),
      args('{"x":2}', "more", 1),
      done(1, call({ id: "z", call_id: "c2", arguments: '{"x":2}' })),
      done(0, call({ id: "y", arguments: '{"x":1}' })),
      completed(),
    );
    const calls = outputs(events) as { id: string; arguments: object }[];
    expect(calls.map((one) => [one.id, one.arguments])).toEqual([
      ["c2", { x: 2 }],
      ["c1", { x: 1 }],
    ]);
  });

  it("may come whole, without a delta", async () => {
    const events = await read(done(0, call({ arguments: '{"x":1}' })), completed());
    expect(events.filter(({ type }) => type.startsWith("toolCall")).map(({ type }) => type)).toEqual([
      "toolCallStart",
      "toolCallDelta",
    ]);
    expect(outputs(events)).toMatchObject([{ arguments: { x: 1 } }]);
  });

  it("that a model wrapped into one that nobody declared are taken out of it", async () => {
    const uses = [
      { recipient_name: "functions.read", parameters: { x: 1 } },
      { recipient_name: "functions.write", parameters: { y: 2 } },
    ];
    const wrapper = call({ name: "multi_tool_use.parallel", arguments: JSON.stringify({ tool_uses: uses }) });
    const calls = outputs(await read(done(0, wrapper), completed())) as {
      id: string;
      name: string;
      arguments: object;
    }[];
    expect(calls.map((one) => [one.name, one.arguments])).toEqual([
      ["read", { x: 1 }],
      ["write", { y: 2 }],
    ]);
    expect(calls[0]?.id).not.toBe(calls[1]?.id);
  });
});

describe("blocks", () => {
  it("reasoning keeps its item, sealed or with a summary in parts", async () => {
    const item = {
      type: "reasoning",
      id: "rs_1",
      encrypted_content: "sealed",
      summary: [
        { type: "summary_text", text: "One." },
        { type: "summary_text", text: "Two." },
      ],
    };
    const summary = (type: string, summary_index: number, more: object) =>
      event(`reasoning_summary_${type}`, { output_index: 0, summary_index, ...more });
    const events = await read(
      added(0, { type: "reasoning", id: "rs_0", summary: [], encrypted_content: "early" }),
      summary("part.added", 0, {}),
      summary("text.delta", 0, { delta: "One." }),
      summary("part.added", 1, {}),
      summary("text.delta", 1, { delta: "Two." }),
      done(0, { ...item, status: "completed" }),
      done(1, { type: "reasoning", id: "rs_2", encrypted_content: "silent", summary: [] }),
      done(2, message("So.")),
      completed(),
    );
    expect(outputs(events)).toEqual([
      { type: "thinking", text: "One.\n\nTwo.", providerData: { "openai-responses": { item } } },
      {
        type: "thinking",
        text: "",
        providerData: {
          "openai-responses": { item: { type: "reasoning", id: "rs_2", encrypted_content: "silent", summary: [] } },
        },
      },
      { type: "text", text: "So." },
    ]);
  });

  it("a message keeps its phase and its sources, and several parts are several blocks", async () => {
    const content = [
      { type: "output_text", text: "One", annotations: [{ type: "url_citation", url: "u" }] },
      { type: "output_text", text: "Two", annotations: [] },
    ];
    const at = (content_index: number, delta: string) =>
      event("output_text.delta", { output_index: 0, content_index, delta });
    const events = await read(
      at(0, "O"),
      at(0, "ne"),
      at(1, "Two"),
      done(0, message("", { content, phase: "commentary" })),
      completed(),
    );
    const providerData = { "openai-responses": { phase: "commentary" } };
    expect(outputs(events)).toEqual([
      { type: "text", text: "One", citations: [{ type: "url_citation", url: "u" }], providerData },
      { type: "text", text: "Two", providerData },
    ]);
  });

  it("a refusal is one, and what the server ran is kept as it came", async () => {
    const ran = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x" } };
    const refused = message("", { content: [{ type: "refusal", refusal: "No." }] });
    const events = await read(done(0, ran), done(1, refused), completed());
    expect(outputs(events)).toEqual([
      { type: "opaque", provider: "openai-responses", block: ran },
      { type: "refusal", text: "No." },
    ]);
    expect(events.at(-1)).toEqual({ type: "finish", reason: "refusal" });
  });
});

describe("gateways", () => {
  const text = (delta: string, output_index = 0) =>
    event("output_text.delta", { output_index, content_index: 0, delta });

  it("that say twice that they begin change nothing", async () => {
    const begun = event("created", { response: {} });
    const events = await read(begun, begun, text("Hi"), done(0, message("Hi")), completed());
    expect(outputs(events)).toEqual([{ type: "text", text: "Hi" }]);
  });

  it("that begin anew in the middle of a call lose that call alone", async () => {
    const events = await read(
      event("created", { response: {} }),
      text("Whole."),
      done(0, message("Whole.")),
      added(1, call({ call_id: "c1", arguments: "" })),
      args('{"x":', "fc_1", 1),
      event("created", { response: {} }),
      text("Anew."),
      done(0, message("Anew.")),
      added(1, call({ call_id: "c2", arguments: "" })),
      args('{"x":2}', "fc_1", 1),
      done(1, call({ call_id: "c2", arguments: '{"x":2}' })),
      completed(),
    );
    expect(outputs(events)).toMatchObject([
      { type: "text", text: "Whole." },
      { type: "text", text: "Anew." },
      { type: "toolCall", id: "c2", arguments: { x: 2 } },
    ]);
  });
});

describe("items of tools that the server knows", () => {
  it("are kept as they came, whatever came of them in pieces, and sent back so", async () => {
    const custom = { type: "custom_tool_call", id: "ctc_1", call_id: "c1", name: "run", input: "x + 1" };
    const search = { type: "tool_search_call", id: "tsc_1", execution: "server", status: "completed", arguments: {} };
    const events = await read(
      added(0, { ...custom, input: "" }),
      event("custom_tool_call_input.delta", { output_index: 0, delta: "x + 1" }),
      event("custom_tool_call_input.done", { output_index: 0, input: "x + 1" }),
      done(0, custom),
      done(1, search),
      completed(),
    );
    const blocks = [custom, search];
    expect(outputs(events)).toEqual(blocks.map((block) => ({ type: "opaque", provider: "openai-responses", block })));
    const messages = blocks.map((block, i) => ({
      ...{ type: "assistant" as const, id: `${i}`, turnId: "t", stepId: "s", model: "m" },
      output: { type: "opaque" as const, provider: "openai-responses", block },
    }));
    const { bodies } = await exchange([{ answer: "ok", unchecked: true }], { messages, model: { name: "m" } });
    expect(bodies[0]?.input).toMatchObject(blocks);
  });
});

describe("the end", () => {
  it("has the usage, with what was cached apart", async () => {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60 },
      output_tokens: 30,
      output_tokens_details: { reasoning_tokens: 20 },
    };
    const events = await read(done(0, message("So.")), completed({ usage }));
    expect(events.find(({ type }) => type === "usage")).toMatchObject({
      usage: { input: 40, cacheRead: 60, output: 30, reasoning: 20, total: 130 },
    });
  });

  it.each([
    ["max_output_tokens", "length"],
    ["content_filter", "contentFilter"],
  ])("incomplete for %s is %s", async (reason, finish) => {
    const events = await read(event("incomplete", { response: { incomplete_details: { reason } } }));
    expect(events.at(-1)).toEqual({ type: "finish", reason: finish });
  });

  it("incomplete for a reason that nobody knows is length, with a warning", async () => {
    const events = await read(event("incomplete", { response: { incomplete_details: { reason: "tired" } } }));
    expect(events.at(-1)).toMatchObject({
      type: "finish",
      reason: "length",
      warnings: [{ message: expect.stringContaining('"tired"') }],
    });
  });

  it("failed is a failure of its class, as is an error event", async () => {
    const failed = await read(event("failed", { response: { error: { code: "server_error", message: "broken" } } }));
    expect(failed.at(-1)).toMatchObject({ type: "failure", error: { details: { kind: "server" }, retryable: true } });
    const error = { type: "insufficient_quota", code: "insufficient_quota", message: "You are out of quota." };
    const { events } = await exchange([{ events: [JSON.stringify({ type: "error", error })] }]);
    expect(events.at(-1)).toMatchObject({
      type: "failure",
      error: { details: { kind: "rateLimit" }, retryable: false },
    });
    const overflow = {
      code: "context_length_exceeded",
      message: "Your input exceeds the context window of this model.",
    };
    const long = await read(event("failed", { response: { error: overflow } }));
    expect(long.at(-1)).toMatchObject({ type: "failure", error: { details: { kind: "contextOverflow" } } });
  });

  it("of a server that does not stream is read all the same", async () => {
    const whole = {
      status: "completed",
      output: [message("Hi."), call({ arguments: "{}" })],
      usage: { input_tokens: 1, output_tokens: 2 },
    };
    const { events } = await exchange([{ json: whole }]);
    expect(outputs(events)).toMatchObject([{ text: "Hi." }, { name: "read" }]);
    const late = await exchange([{ json: { error: { code: "rate_limit_error", message: "slow" } } }]);
    expect(late.events.at(-1)).toMatchObject({ type: "failure", error: { details: { kind: "rateLimit" } } });
  });
});
