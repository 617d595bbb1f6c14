import type { ModelEvent, ModelRequest } from "@shedkit/provider";
import { AgenticError, Messages } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { Gate, ScriptedProvider } from "../src/index.js";

function request(text: string, signal?: AbortSignal): ModelRequest {
  return {
    model: { name: "any" },
    messages: [Messages.user(text)],
    tools: { tools: [], activations: [] },
    params: {},
    signal,
  };
}

async function collect(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const all: ModelEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const types = (events: ModelEvent[]) => events.map((event) => event.type);

describe("ScriptedProvider", () => {
  it("answers the n-th request with the n-th answer, in chunks that never split a character", async () => {
    const provider = new ScriptedProvider(["ab😀cd", "second"], { chunkSize: 3 });
    const first = await collect(provider.stream(request("one")));
    expect(first).toEqual([
      { type: "start", warnings: [] },
      { type: "textDelta", block: 0, text: "ab😀" },
      { type: "textDelta", block: 0, text: "cd" },
      { type: "output", block: 0, output: { type: "text", text: "ab😀cd" } },
      { type: "usage", usage: { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: 12 } },
      { type: "finish", reason: "stop" },
    ]);
    const second = await collect(provider.stream(request("two")));
    expect(second.at(-3)).toEqual({ type: "output", block: 0, output: { type: "text", text: "second" } });
    expect(provider.requests.map((r) => r.messages.length)).toEqual([1, 1]);
  });

  it("numbers blocks and closes each before the next begins", async () => {
    const provider = new ScriptedProvider([
      [
        { thinking: "hm", signature: "s" },
        "a",
        { call: "read", arguments: { path: "x" } },
        { call: "read", raw: "{oops" },
        { call: "now", raw: "" },
      ],
    ]);
    const outputs = (await collect(provider.stream(request("go")))).filter((event) => event.type === "output");
    expect(outputs).toEqual([
      { type: "output", block: 0, output: { type: "thinking", text: "hm", signature: "s" } },
      { type: "output", block: 1, output: { type: "text", text: "a" } },
      {
        type: "output",
        block: 2,
        output: { type: "toolCall", id: "call_1", providerCallId: "call_1", name: "read", arguments: { path: "x" } },
      },
      {
        type: "output",
        block: 3,
        output: { type: "toolCall", id: "call_2", providerCallId: "call_2", name: "read", rawArguments: "{oops" },
      },
      {
        type: "output",
        block: 4,
        output: { type: "toolCall", id: "call_3", providerCallId: "call_3", name: "now", arguments: {} },
      },
    ]);
  });

  it("fails after what it has said, and closes the text", async () => {
    const error = new AgenticError("generation", "gone", { kind: "network", provider: "scripted", model: "any" });
    const events = await collect(new ScriptedProvider([["half", { fail: error }]]).stream(request("go")));
    expect(types(events)).toEqual(["start", "textDelta", "output", "usage", "failure"]);
    expect(events.at(-1)).toEqual({ type: "failure", error });
  });

  it("ends in `cancelled` when the request is aborted at a gate", async () => {
    const gate = new Gate();
    const controller = new AbortController();
    const provider = new ScriptedProvider([["before", { wait: gate }, "after"]]);
    const all = collect(provider.stream(request("go", controller.signal)));
    await gate.reached;
    controller.abort("enough");
    const events = await all;
    expect(events.find((event) => event.type === "output")).toEqual({
      type: "output",
      block: 0,
      output: { type: "text", text: "before" },
    });
    const last = events.at(-1);
    expect(last?.type === "failure" && AgenticError.is(last.error, "cancelled") && last.error.details.reason).toBe(
      "enough",
    );
  });

  it("goes on when the gate opens, within the same block", async () => {
    const gate = new Gate();
    const all = collect(new ScriptedProvider([["be", { wait: gate }, "fore"]]).stream(request("go")));
    await gate.reached;
    gate.open();
    expect((await all).filter((event) => event.type === "output")).toEqual([
      { type: "output", block: 0, output: { type: "text", text: "before" } },
    ]);
  });

  it("stops at the first event after an abort between deltas", async () => {
    const controller = new AbortController();
    const events: ModelEvent[] = [];
    for await (const event of new ScriptedProvider(["0123456789"], { chunkSize: 1 }).stream(
      request("go", controller.signal),
    )) {
      events.push(event);
      if (event.type === "textDelta" && event.text === "2") controller.abort();
    }
    expect(types(events)).toEqual(["start", "textDelta", "textDelta", "textDelta", "output", "usage", "failure"]);
  });

  it("says which request has no answer", async () => {
    const events = await collect(new ScriptedProvider([]).stream(request("go")));
    expect(events).toHaveLength(1);
    expect(events[0]?.type === "failure" && events[0].error.message).toMatch(/no answer for request 1/);
  });

  it("serves the models it was given", () => {
    const provider = new ScriptedProvider([], { models: ["a"] });
    expect([provider.serves({ name: "a" }), provider.serves({ name: "b" })]).toEqual(["yes", "no"]);
  });
});
