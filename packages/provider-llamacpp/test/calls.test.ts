import { tinyChatTemplate } from "@shedkit/testing";
import { type Message, Messages, type ToolDeclarations } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { collect, cpuProvider, only, outputs, request, tinyModel, tool } from "./helpers.js";

const provider = cpuProvider();

const shape = tool(
  "draw_it",
  {
    kind: { enum: ["circle", "square"] },
    size: { type: "integer", minimum: 1, maximum: 99 },
    label: { type: "string", maxLength: 6 },
    at: { type: "array", items: { type: "boolean" }, minItems: 2, maxItems: 2 },
  },
  ["kind", "at"],
);
const tools: ToolDeclarations = { tools: [shape], activations: [] };

describe("a call", () => {
  it("is held to the tools' schemas from its mark on, whatever the model would rather say", async () => {
    const model = tinyModel({ says: ["Look: ", "<tool_call>", "no JSON", "</tool_call>"] });
    const seen = new Set<string>();
    for (let seed = 1; seed <= 12; seed++) {
      const params = { temperature: 3, topK: 1000, topP: 1, seed, maxTokens: 400 };
      const events = await collect(provider.stream(request(model, ["Draw"], { tools, params })));
      expect(only(events, "finish").reason).toBe("toolUse");
      const [text, call] = outputs(events);
      expect(text).toEqual({ type: "text", text: "Look:" });
      if (call?.type !== "toolCall") throw new Error(`no call: ${JSON.stringify(events)}`);
      const { kind, size, label, at, ...rest } = call.arguments ?? {};
      expect(call.name).toBe("draw_it");
      expect(["circle", "square"]).toContain(kind);
      if (size !== undefined) expect(size).toSatisfy((n) => Number.isInteger(n) && Number(n) >= 1 && Number(n) <= 99);
      // Random weights also make bytes that are no character.
      if (label !== undefined && !/\uFFFD/.test(label as string))
        expect([...(label as string)].length).toBeLessThanOrEqual(6);
      expect(at).toHaveLength(2);
      expect(rest).toEqual({});
      seen.add(Object.keys(call.arguments ?? {}).join());
      const deltas = events.flatMap((event) => (event.type === "toolCallDelta" ? [event.json] : []));
      expect(JSON.parse(deltas.join(""))).toEqual(call.arguments);
      const start = only(events, "toolCallStart");
      expect(start).toMatchObject({ id: call.id, name: "draw_it", block: 1 });
    }
    expect(seen.size).toBeGreaterThan(1); // optional properties come and go
  });

  it("is free again after its end", async () => {
    const script = [
      "<tool_call>",
      '{"name": "draw_it", "arguments": ',
      '{"kind": "circle", ',
      '"at": [true, true]}',
      "}\n",
      "</tool_call>",
      "Done.",
    ];
    const events = await collect(provider.stream(request(tinyModel({ says: script }), ["Draw"], { tools })));
    expect(outputs(events)).toMatchObject([
      { type: "toolCall", name: "draw_it", arguments: { kind: "circle", at: [true, true] } },
      { type: "text", text: "Done." },
    ]);
  });

  it("is read without a grammar where no tool may be called", async () => {
    const script = ["<tool_call>", '{"name": "other", ', '"arguments": {}}'];
    const events = await collect(provider.stream(request(tinyModel({ says: script }), ["Draw"])));
    expect(outputs(events)).toMatchObject([{ type: "toolCall", name: "other", arguments: {} }]);
  });
});

it("holds an answer to an output schema, with or without tools", async () => {
  const output = { type: "object", properties: { ok: { type: "boolean" }, n: { type: "null" } }, required: ["ok"] };
  const model = tinyModel({ says: ["Sure, here it is: ", "nothing"] });
  for (const offered of [{ tools: [], activations: [] }, tools]) {
    for (let seed = 1; seed <= 6; seed++) {
      const params = { temperature: 1, topK: 1000, topP: 1, seed, maxTokens: 400 };
      const events = await collect(provider.stream(request(model, ["Hi"], { output, params, tools: offered })));
      const [answer] = outputs(events);
      if (answer?.type === "text") expect(typeof JSON.parse(answer.text).ok).toBe("boolean");
      else expect(answer).toMatchObject({ type: "toolCall", name: "draw_it" });
    }
  }
});

it("keeps what was evaluated when a tool is found: its declaration stands in the result", async () => {
  const script = ["<tool_call>", '\n{"name": "shed", "arguments": ', '{"description": "draw"}', "}\n", "</tool_call>"];
  const model = tinyModel({ says: script });
  const shed = tool("shed", { description: { type: "string" } });
  const question = Messages.user("Draw a circle");
  const first = request(model, [question], { session: "s", tools: { shed, tools: [], activations: [] } });
  const before = await provider.countTokens(first);
  const events = await collect(provider.stream(first));
  const [call] = outputs(events);
  if (call?.type !== "toolCall") throw new Error("no call");
  const ids = { turnId: "t1", stepId: "s1" };
  const messages: Message[] = [
    question,
    { type: "assistant", id: "a1", model, output: call, ...ids },
    {
      type: "toolResult",
      id: "r1",
      toolCallId: call.id,
      name: "shed",
      content: [{ type: "text", text: "..." }],
      ...ids,
    },
  ];
  const found = { shed, tools: [shape], activations: [{ name: "draw_it", by: { toolCallId: call.id } }] };
  const second = request(model, messages, { session: "s", tools: found });
  const { usage } = only(await collect(provider.stream(second)), "usage");
  const answer = only(events, "usage").usage.output - 1; // all but the end
  expect(usage.cacheRead).toBe(before + answer);
  expect(usage.input).toBe((await provider.countTokens(second)) - before - answer);
});

describe("each family", () => {
  const painted = tool("paint", {
    kind: { enum: ["circle", "square"] },
    size: { type: "integer", minimum: 1, maximum: 99 },
  });
  const offered: ToolDeclarations = { tools: [painted], activations: [] };
  it.each([
    ["<tool_call><function=", "<tool_call>"],
    ["<tool_call><function=", "<function="],
    ["<tool_call><arg_key>", "<tool_call>"],
    ["<|tool_call>", "<|tool_call>"],
    ["[TOOL_CALLS]", "[TOOL_CALLS]"],
    ["[TOOL_CALLS] [ARGS]", "[TOOL_CALLS]"],
    ["<｜tool▁call▁begin｜>", "<｜tool▁call▁begin｜>"],
    ["<｜tool▁call▁begin｜> ```json", "<｜tool▁call▁begin｜>"],
    ["<|tool_calls_section_begin|>", "<|tool_call_begin|>"],
    ["<|channel|>", "<|channel|>commentary to=functions.paint <|constrain|>json<|message|>"],
    ["<|start_header_id|>", '{"name": "paint"'],
  ])("of templates with %s is held to the schemas from %s on", async (sign, mark) => {
    const says = [mark, "no call", "at all"];
    const model = tinyModel({ chatTemplate: `{# ${sign} #}${tinyChatTemplate}`, says });
    for (let seed = 1; seed <= 3; seed++) {
      const params = { temperature: 3, topK: 1000, topP: 1, seed, maxTokens: 1200 };
      const events = await collect(provider.stream(request(model, ["Draw"], { tools: offered, params })));
      const call = outputs(events)[0];
      if (call?.type !== "toolCall") throw new Error(`no call: ${JSON.stringify(events)}`);
      expect(call.name).toBe("paint");
      const { kind, size, ...rest } = call.arguments ?? {};
      expect(["circle", "square"]).toContain(kind);
      expect(size).toSatisfy((n) => Number.isInteger(n) && Number(n) >= 1 && Number(n) <= 99);
      expect(rest).toEqual({});
    }
  });
});
