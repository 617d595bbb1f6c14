import type { ToolDeclarations } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { collect, cpuProvider, only, outputs, request, tinyModel, tool } from "./helpers.js";

const provider = cpuProvider();
const hot = (seed: number) => ({ temperature: 3, topK: 1000, topP: 1, seed, maxTokens: 400 });
const shape = tool("draw_it", {
  kind: { enum: ["circle", "四角 ü"] },
  size: { type: "integer", minimum: 1, maximum: 99 },
  label: { type: "string", maxLength: 6 },
  at: { type: "array", items: { type: "boolean" }, minItems: 2, maxItems: 2 },
});
const tools: ToolDeclarations = { tools: [shape], activations: [] };

describe("a call", () => {
  it("is held to the tools' schemas from its mark on, whatever the model would rather say", async () => {
    const model = tinyModel({ says: ["Look: ", "<tool_call>", "no JSON", "</tool_call>"] });
    const kinds = new Set<unknown>();
    for (let seed = 1; seed <= 5; seed++) {
      const events = await collect(provider.stream(request(model, ["Draw"], { tools, params: hot(seed) })));
      expect(only(events, "finish").reason).toBe("toolUse");
      const [text, call] = outputs(events);
      expect(text).toEqual({ type: "text", text: "Look:" });
      if (call?.type !== "toolCall") throw new Error(`no call: ${JSON.stringify(events)}`);
      const { kind, size, label, at, ...rest } = call.arguments ?? {};
      expect(call.name).toBe("draw_it");
      if (kind !== undefined) kinds.add(kind);
      if (size !== undefined) expect(size).toSatisfy((n) => Number.isInteger(n) && Number(n) >= 1 && Number(n) <= 99);
      if (label !== undefined) expect([...(label as string)].length).toBeLessThanOrEqual(6);
      if (label !== undefined) expect(label).not.toContain("\uFFFD");
      if (at !== undefined) expect(at).toHaveLength(2);
      expect(rest).toEqual({});
    }
    for (const kind of kinds) expect(["circle", "四角 ü"]).toContain(kind);
    expect(kinds.size).toBeGreaterThan(0);
  });

  it("is free again after its end, and without tools", async () => {
    const script = ["<tool_call>", '{"name": "draw_it", "arguments": ', '{"size": 5}', "}\n", "</tool_call>", "Done."];
    expect(
      outputs(await collect(provider.stream(request(tinyModel({ says: script }), ["Draw"], { tools })))),
    ).toMatchObject([
      { type: "toolCall", name: "draw_it", arguments: { size: 5 } },
      { type: "text", text: "Done." },
    ]);
    const other = ["<tool_call>", '{"name": "other", ', '"arguments": {}}'];
    expect(outputs(await collect(provider.stream(request(tinyModel({ says: other }), ["Draw"]))))).toMatchObject([
      { type: "toolCall", name: "other", arguments: {} },
    ]);
  });
});

it("an answer is held to its schema, behind a thought as well, with or without tools", async () => {
  const output = {
    type: "object",
    properties: { ok: { type: "boolean" }, word: { enum: ["世", "é"] } },
    required: ["ok", "word"],
  };
  const models = [
    ["Sure, here it is: ", "nothing"],
    ["<think>", "Hm.", "</think>", "nothing"],
  ].map((says) => tinyModel({ says }));
  for (const model of models) {
    for (const offered of [{ tools: [], activations: [] }, tools]) {
      for (let seed = 1; seed <= 2; seed++) {
        const events = await collect(
          provider.stream(request(model, ["Hi"], { output, params: hot(seed), tools: offered })),
        );
        const answer = outputs(events).find(({ type }) => type !== "thinking");
        if (answer?.type === "text") {
          const value = JSON.parse(answer.text);
          expect(typeof value.ok).toBe("boolean");
          expect(["世", "é"]).toContain(value.word);
        } else expect(answer).toMatchObject({ type: "toolCall", name: "draw_it" });
      }
    }
  }
});

it("greedy answers are held too", async () => {
  const model = tinyModel({ says: ["nothing", " at all"] });
  const output = { enum: ["yes", "no"] };
  const events = await collect(provider.stream(request(model, ["Hi"], { output })));
  expect(outputs(events)).toEqual([{ type: "text", text: expect.stringMatching(/^"(yes|no)"$/) }]);
  expect(only(events, "finish").reason).toBe("stop");
});
