import { describe, expect, it } from "vitest";
import { exchange, outputs } from "./open.js";

const start = (usage: object = { input_tokens: 10, output_tokens: 1 }) =>
  JSON.stringify({ type: "message_start", message: { id: "m", usage } });
const begin = (index: number, content_block: object) =>
  JSON.stringify({ type: "content_block_start", index, content_block });
const delta = (index: number, piece: object) => JSON.stringify({ type: "content_block_delta", index, delta: piece });
const stop = (index: number) => JSON.stringify({ type: "content_block_stop", index });
const end = (stop_reason: string, more: object = {}, usage: object = { output_tokens: 5 }) => [
  JSON.stringify({ type: "message_delta", delta: { stop_reason, ...more }, usage }),
  JSON.stringify({ type: "message_stop" }),
];
const words = (index: number, text: string) => delta(index, { type: "text_delta", text });
const json = (index: number, partial_json: string) => delta(index, { type: "input_json_delta", partial_json });

async function read(...events: (string | string[])[]) {
  return (await exchange([{ events: events.flat() }])).events;
}

describe("blocks", () => {
  it("thinking keeps its signature, also without text; what is redacted stays so", async () => {
    const events = await read(
      start(),
      begin(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "Hm." }),
      delta(0, { type: "signature_delta", signature: "ab" }),
      delta(0, { type: "signature_delta", signature: "cd" }),
      stop(0),
      begin(1, { type: "thinking", thinking: "", signature: "" }),
      delta(1, { type: "signature_delta", signature: "ef" }),
      stop(1),
      begin(2, { type: "redacted_thinking", data: "xyz" }),
      stop(2),
      begin(3, { type: "text", text: "" }),
      words(3, "Yes."),
      stop(3),
      end("end_turn"),
    );
    expect(outputs(events)).toEqual([
      { type: "thinking", text: "Hm.", signature: "abcd" },
      { type: "thinking", text: "", signature: "ef" },
      { type: "thinking", text: "", redacted: "xyz" },
      { type: "text", text: "Yes." },
    ]);
  });

  it("a call's arguments come in deltas, with none at all, or whole in its start", async () => {
    const use = (id: string, input: object) => ({ type: "tool_use", id, name: "read", input });
    const events = await read(
      start(),
      begin(0, use("a", {})),
      json(0, ""),
      json(0, '{"x"'),
      json(0, ":1}"),
      stop(0),
      begin(1, use("b", {})),
      stop(1),
      begin(2, use("c", { y: 2 })),
      stop(2),
      end("tool_use"),
    );
    expect(outputs(events)).toMatchObject([
      { id: "a", arguments: { x: 1 } },
      { id: "b", arguments: {} },
      { id: "c", arguments: { y: 2 } },
    ]);
    expect(events.at(-1)).toEqual({ type: "finish", reason: "toolUse" });
  });

  it("server tools and what is not known yet are kept as they came, and sent back so", async () => {
    const use = { type: "server_tool_use", id: "s1", name: "web_search", input: {} };
    const found = {
      type: "web_search_tool_result",
      tool_use_id: "s1",
      content: [{ type: "web_search_result", url: "u" }],
    };
    const events = await read(
      start(),
      begin(0, use),
      json(0, '{"query":'),
      json(0, '"x"}'),
      stop(0),
      begin(1, found),
      stop(1),
      begin(2, { type: "novelty", note: "a" }),
      delta(2, { type: "novelty_delta", note: "b", more: 1 }),
      stop(2),
      end("pause_turn"),
    );
    const blocks = [{ ...use, input: { query: "x" } }, found, { type: "novelty", note: "ab", more: 1 }];
    expect(outputs(events)).toEqual(blocks.map((block) => ({ type: "opaque", provider: "anthropic", block })));
    expect(events.at(-1)).toEqual({ type: "finish", reason: "pause" });
    const messages = outputs(events).map((output, i) => ({
      ...{ type: "assistant" as const, id: `${i}`, turnId: "t", stepId: "s", model: "claude-sonnet-4-5" },
      output: output as never,
    }));
    const { bodies } = await exchange(["ok"], { messages });
    expect(bodies[0]?.messages).toMatchObject([{ role: "user" }, { role: "assistant", content: blocks }]);
  });

  it("citations are kept with their text", async () => {
    const citation = { type: "char_location", cited_text: "x" };
    const events = await read(
      start(),
      begin(0, { type: "text", text: "", citations: [] }),
      words(0, "So."),
      delta(0, { type: "citations_delta", citation }),
      delta(0, { type: "citations_delta", citation }),
      stop(0),
      end("end_turn"),
    );
    expect(outputs(events)).toEqual([{ type: "text", text: "So.", citations: [citation, citation] }]);
  });

  it("a reason that nobody knows is a stop, with a warning", async () => {
    expect((await read(start(), end("tired"))).at(-1)).toMatchObject({
      type: "finish",
      reason: "stop",
      warnings: [{ message: expect.stringContaining('"tired"') }],
    });
  });

  it("a refusal says why", async () => {
    const events = await read(
      start(),
      end("refusal", { stop_details: { type: "refusal", explanation: "It is not allowed." } }),
    );
    expect(outputs(events)).toEqual([{ type: "refusal", text: "It is not allowed." }]);
    expect(events.at(-1)).toEqual({ type: "finish", reason: "refusal" });
  });
});

describe("gateways", () => {
  it("that send a start twice change nothing", async () => {
    const events = await read(
      start(),
      start(),
      begin(0, { type: "text", text: "" }),
      words(0, "Hi"),
      stop(0),
      end("end_turn"),
    );
    expect(outputs(events)).toEqual([{ type: "text", text: "Hi" }]);
  });

  it("that begin anew in the middle of a call lose that call alone", async () => {
    const use = (id: string) => ({ type: "tool_use", id, name: "read", input: {} });
    const events = await read(
      start(),
      begin(0, { type: "text", text: "" }),
      words(0, "Whole."),
      stop(0),
      begin(1, use("a")),
      json(1, '{"x":'),
      start(),
      begin(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "Hm." }),
      stop(0),
      begin(1, use("b")),
      json(1, '{"x":2}'),
      stop(1),
      end("tool_use"),
    );
    expect(outputs(events)).toMatchObject([
      { type: "text", text: "Whole." },
      { type: "thinking", text: "Hm." },
      { type: "toolCall", id: "b", arguments: { x: 2 } },
    ]);
  });

  it("that do not stream answer all the same, and their errors are failures", async () => {
    const content = [
      { type: "text", text: "Hi." },
      { type: "tool_use", id: "a", name: "read", input: { x: 1 } },
    ];
    const whole = { type: "message", content, stop_reason: "tool_use", usage: { input_tokens: 1, output_tokens: 2 } };
    const { events } = await exchange([{ json: whole }]);
    expect(outputs(events)).toMatchObject([{ text: "Hi." }, { arguments: { x: 1 } }]);
    const failed = await exchange([{ json: { type: "error", error: { type: "overloaded_error", message: "busy" } } }]);
    expect(failed.events.at(-1)).toMatchObject({ type: "failure", error: { details: { kind: "overloaded" } } });
  });
});

describe("usage", () => {
  it("is what was reported last, also when the stream breaks", async () => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 1 };
    const whole = await read(
      start(usage),
      end("end_turn", {}, { input_tokens: 12, output_tokens: 50, output_tokens_details: { thinking_tokens: 30 } }),
    );
    const counts = { input: 12, output: 50, cacheRead: 100, cacheWrite: 20, reasoning: 30, total: 182 };
    expect(whole.filter((event) => event.type === "usage")).toMatchObject([{ type: "usage", usage: counts }]);
    const broken = await read(start(usage), begin(0, { type: "text", text: "" }), words(0, "half"));
    expect(broken.at(-2)).toMatchObject({ type: "usage", usage: { input: 10, output: 1 } });
    expect(broken.at(-1)).toMatchObject({ type: "failure", error: { details: { kind: "network" } } });
  });
});
