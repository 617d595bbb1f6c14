import { type Message, Messages, type ToolDeclarations } from "@shedkit/types";
import { expect, it } from "vitest";
import { collect, cpuProvider, only, outputs, request, tinyModel, tool } from "./helpers.js";

const provider = cpuProvider();
const says = tinyModel({ says: ["Hello", " wörld", " 世😀"] });

const answered = (text: string): Message => ({
  type: "assistant",
  id: "a1",
  turnId: "t1",
  stepId: "s1",
  model: "m",
  output: { type: "text", text },
});

it("streams an answer and ends where the model ends it", async () => {
  const events = await collect(provider.stream(request(says, ["Hi"])));
  const input = await provider.countTokens(request(says, ["Hi"]));
  const loading = events.filter((event) => event.type === "loading");
  expect(loading.at(-1)).toMatchObject({ what: "load", bytesDone: loading.at(-1)?.bytesTotal });
  expect(events.slice(loading.length)).toEqual([
    { type: "start", warnings: [] },
    { type: "textDelta", block: 0, text: "Hello" },
    { type: "textDelta", block: 0, text: " wörld" },
    { type: "textDelta", block: 0, text: " 世😀" },
    { type: "output", block: 0, output: { type: "text", text: "Hello wörld 世😀" } },
    { type: "usage", usage: { input, output: 4, cacheRead: 0, cacheWrite: 0, reasoning: 0, total: input + 4 } },
    { type: "finish", reason: "stop" },
  ]);
});

it("evaluates of the next prompt only what the session has not evaluated yet", async () => {
  const first = request(says, ["Hi"], { session: "kept" });
  const before = await provider.countTokens(first);
  expect(only(await collect(provider.stream(first)), "usage").usage).toMatchObject({ input: before, cacheRead: 0 });
  const next = request(says, ["Hi", answered("Hello wörld 世😀"), "Again"], { session: "kept" });
  const after = await provider.countTokens(next);
  const two = await collect(provider.stream(next));
  expect(only(two, "usage").usage).toMatchObject({ cacheRead: before + 3, input: after - before - 3 });
  expect(outputs(two)).toEqual([{ type: "text", text: "Hello wörld 世😀" }]);
  const other = request(says, ["Something else"], { session: "kept" });
  expect(only(await collect(provider.stream(other)), "usage").usage.cacheRead).toBe(0);
});

it("tells thinking from text, and calls from both", async () => {
  const script = [
    "<think>",
    "Hm, well.",
    "</think>",
    "\n\n",
    "<tool_call>",
    '{"name": "draw_it", ',
    '"arguments": {"n": 3}}',
  ];
  const tools: ToolDeclarations = { tools: [tool("draw_it", { n: { type: "integer" } })], activations: [] };
  const events = await collect(provider.stream(request(tinyModel({ says: script }), ["Draw"], { tools })));
  expect(outputs(events)).toMatchObject([
    { type: "thinking", text: "Hm, well." },
    { type: "toolCall", name: "draw_it", arguments: { n: 3 } },
  ]);
  expect(only(events, "finish").reason).toBe("toolUse");
  expect(only(events, "toolCallStart")).toMatchObject({ name: "draw_it", block: 1 });
});

it("ends a thought at its budget, and answers", async () => {
  const model = tinyModel({ says: ["<think>", "Hm,", " well,", " let me see.", "</think>", "Yes."] });
  const params = { thinking: { budgetTokens: 2 } };
  expect(outputs(await collect(provider.stream(request(model, ["Hi"], { params }))))).toEqual([
    { type: "thinking", text: "Hm, well," },
    { type: "text", text: "Yes." },
  ]);
});

it("keeps what was evaluated when a tool is found", async () => {
  const model = tinyModel({
    says: ["<tool_call>", '\n{"name": "shed", "arguments": ', '{"description": "draw"}', "}\n", "</tool_call>"],
  });
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
  const found = {
    shed,
    tools: [tool("draw_it", { n: { type: "integer" } })],
    activations: [{ name: "draw_it", by: { toolCallId: call.id } }],
  };
  const { usage } = only(
    await collect(provider.stream(request(model, messages, { session: "s", tools: found }))),
    "usage",
  );
  expect(usage.cacheRead).toBe(before + only(events, "usage").usage.output - 1);
});

it("stops before a stop string, at maxTokens, and where the context is full", async () => {
  const stopped = await collect(provider.stream(request(says, ["Hi"], { params: { stop: ["lo wör"] } })));
  expect(outputs(stopped)).toEqual([{ type: "text", text: "Hel" }]);
  const cut = await collect(provider.stream(request(says, ["Hi"], { params: { maxTokens: 2 } })));
  expect(outputs(cut)).toEqual([{ type: "text", text: "Hello wörld" }]);
  expect(only(cut, "finish").reason).toBe("length");
  const endless = request(tinyModel({ says: ["tick", "tack"], forever: true, contextLength: 64 }), ["Hi"]);
  const full = await collect(provider.stream(endless));
  expect(only(full, "finish").reason).toBe("length");
  expect(only(full, "usage").usage.total).toBe((await provider.describe(endless.model)).contextWindow);
});

it("refuses a prompt that does not fit, naming both sizes", async () => {
  const ask = request(tinyModel({ contextLength: 64 }), ["word ".repeat(100)]);
  const { error } = only(await collect(provider.stream(ask)), "failure");
  expect(error).toMatchObject({ code: "generation", details: { kind: "contextOverflow" } });
  expect(error.message).toContain(`${await provider.countTokens(ask)} tokens`);
});

it("is the same for the same seed, and the sampling parameters count", async () => {
  const random = tinyModel();
  const say = async (params: object) =>
    outputs(await collect(provider.stream(request(random, ["Hi"], { params: { maxTokens: 12, ...params } }))));
  const hot = { temperature: 2, topK: 1000, topP: 1 };
  expect(await say({ ...hot, seed: 1 })).toEqual(await say({ ...hot, seed: 1 }));
  expect(await say({ ...hot, seed: 1 })).not.toEqual(await say({ ...hot, seed: 2 }));
  expect(await say({ ...hot, seed: 1, topK: 1 })).toEqual(await say({}));
  expect(await say({ ...hot, seed: 1, topP: 0.0001 })).toEqual(await say({}));
});

it("takes special tokens in what people say for text", async () => {
  const count = (text: string) => provider.countTokens(request(says, [text]));
  const normal = await count(".");
  expect(await count(".<|im_end|>")).toBeGreaterThan(normal + 5);
  expect(await count(".\u{F5D1B}")).toBe(normal);
});

it("tells the model an output schema", async () => {
  const plain = await provider.countTokens(request(says, ["Hi"]));
  expect(await provider.countTokens(request(says, ["Hi"], { output: { type: "object" } }))).toBeGreaterThan(plain);
});

it("takes the chat template that is given, of several the one for tools where there are tools", async () => {
  const template = (words: number) => `${"word ".repeat(words)}{% for m in messages %}{{ m.content }}{% endfor %}`;
  const several = [
    { name: "default", template: template(10) },
    { name: "tool_use", template: template(500) },
  ];
  const model = tinyModel({ chatTemplate: several as never });
  const tools = { tools: [tool("read", {})], activations: [] };
  const plain = await provider.countTokens(request(model, ["Hi"]));
  expect(plain).toBeLessThan(60);
  expect(await provider.countTokens(request(model, ["Hi"], { tools }))).toBeGreaterThan(500);
  const given = cpuProvider({ chatTemplate: template(100) });
  expect(await given.countTokens(request(model, ["Hi"]))).toBeGreaterThan(plain + 50);
});
