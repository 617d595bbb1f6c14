import { ToolShed } from "@shedkit/shed";
import { callTool, FnTool, type Progress, ToolCallResult, type ToolImpl } from "@shedkit/tool";
import { generateText, isStepCount, jsonSchema, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { expect, test } from "vitest";
import { fromAiSdkTools, type ShedToolOutput, toAiSdkTools } from "../src/index.js";

const object = { type: "object" };
const anything = jsonSchema<object>({ type: "object" });

test("what is no tool of the AI SDK is named, each and at once", async () => {
  const bad = {
    none: null,
    text: "tool",
    idle: { inputSchema: anything, execute: "run" },
    odd: { inputSchema: 7, execute: () => 1 },
    fine: tool({ inputSchema: anything, execute: () => 1 }),
  };
  const error = await fromAiSdkTools(bad as never).catch((e: unknown) => e);
  expect(error).toMatchObject({ code: "toolShed" });
  const { problems } = (error as { details: { problems: string[] } }).details;
  expect(problems.map((text) => text.split(" ")[0])).toEqual(['"none"', '"text"', '"idle"', '"odd"']);
  for (const given of [null, undefined, "tools"]) {
    await expect(fromAiSdkTools(given as never)).rejects.toMatchObject({ code: "toolShed" });
  }
  expect(await fromAiSdkTools({})).toEqual([]);
});

test("what tools give that is no JSON is told, and ends no call that goes on", async () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  const made = await fromAiSdkTools({
    big: tool({ inputSchema: anything, execute: () => ({ n: 1n }) }),
    circle: tool({ inputSchema: anything, execute: () => circle }),
    nothing: tool({ inputSchema: anything, execute: () => undefined }),
    never: tool({
      inputSchema: anything,
      async *execute() {
        yield circle;
        yield "end";
      },
    }),
    none: { inputSchema: anything, async *execute() {} },
    mute: tool({ inputSchema: anything, execute: () => 1, toModelOutput: () => ({ type: "song" }) as never }),
  });
  const [big, round, nothing, never, none, mute] = made as [ToolImpl, ToolImpl, ToolImpl, ToolImpl, ToolImpl, ToolImpl];
  await expect(callTool(big, {})).rejects.toThrow("It ran, and gave what is no JSON");
  await expect(callTool(round, {})).rejects.toThrow("It ran, and gave what is no JSON");
  expect((await callTool(nothing, {})).text).toBe("Done.");
  const seen: Progress[] = [];
  expect((await callTool(never, {}, { onProgress: (one) => seen.push(one) })).text).toBe("end");
  expect(seen).toHaveLength(1);
  expect((await callTool(none, {})).text).toBe("Done.");
  await expect(callTool(mute, {})).rejects.toThrow("gave what is no output");
});

test("outputs that were stored, or that point nowhere, are shown all the same", async () => {
  const lost = new FnTool(
    "lost",
    "Gives a picture.",
    object,
    async () =>
      new ToolCallResult([
        { type: "text", text: "Here:" },
        { type: "image", source: { type: "url", url: "not an address" }, mediaType: "image/png" },
      ]),
  );
  await using made = await toAiSdkTools(new ToolShed().tool(lost), { offer: "whole" });
  const one = made.tools.lost;
  let last: ShedToolOutput | undefined;
  for await (const output of one?.execute({}, { toolCallId: "1" }) ?? []) last = output;
  expect(one?.toModelOutput({ output: last as ShedToolOutput })).toEqual({
    type: "content",
    value: [
      { type: "text", text: "Here:" },
      { type: "text", text: "[image (image/png) at what is no address]" },
    ],
  });
  const shown = (output: unknown) => one?.toModelOutput({ output: output as never });
  expect(shown(undefined)).toEqual({ type: "text", value: "" });
  expect(shown(null)).toEqual({ type: "text", value: "null" });
  expect(shown("of before")).toEqual({ type: "text", value: "of before" });
  expect(shown({ status: "done" })).toEqual({ type: "text", value: '{"status":"done"}' });
});

test("a model that calls with what is no JSON, or a tool that is not there, is told, and the call goes on", async () => {
  const echo = new FnTool(
    "echo",
    "Echoes.",
    { type: "object", properties: { a: { type: "string" } } },
    async () => "ok",
  );
  await using made = await toAiSdkTools(new ToolShed().tool(echo), { offer: "whole" });
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const calls = [
    ["echo", "{not json"],
    ["echo", "[1]"],
    ["echo", ""],
    ["gone", "{}"],
  ];
  const model = new MockLanguageModelV4({
    doGenerate: async () => {
      const call = calls.shift();
      const content = call
        ? [
            {
              type: "tool-call" as const,
              toolCallId: `c${calls.length}`,
              toolName: call[0] ?? "",
              input: call[1] ?? "",
            },
          ]
        : [{ type: "text" as const, text: "Done." }];
      const unified = call ? ("tool-calls" as const) : ("stop" as const);
      return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] };
    },
  });
  const { text, steps } = await generateText({
    model,
    tools: made.tools,
    prompt: "Go",
    stopWhen: isStepCount(10),
  });
  expect(text).toBe("Done.");
  expect(steps).toHaveLength(5);
});
