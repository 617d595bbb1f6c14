import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ToolShed } from "@shedkit/shed";
import { ScriptedServer, type ServerAnswer } from "@shedkit/testing";
import {
  type CallGate,
  callGates,
  capabilitiesFor,
  FnTool,
  ToolCallResult,
  type ToolImpl,
  toolFn,
  userAnswers,
} from "@shedkit/tool";
import type { ToolArguments } from "@shedkit/types";
import { generateText, isStepCount, jsonSchema, type ModelMessage, streamText, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { expect, onTestFinished, test } from "vitest";
import { fromAiSdkTools, toAiSdkTools } from "../src/index.js";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const weather = new FnTool(
  "weather",
  "Tells the weather of a city.",
  city,
  async (args) => `Rain in ${args.str("city")}.`,
);
const fail = new FnTool("fail", "Fails.", { type: "object" }, async () =>
  ToolCallResult.failure("no such file", "There is none."),
);
const paint = new FnTool(
  "paint",
  "Paints a picture.",
  { type: "object" },
  async () =>
    new ToolCallResult([
      { type: "text", text: "Here." },
      { type: "image", source: { type: "base64", data: PNG }, mediaType: "image/png" },
    ]),
);
const shed = new ToolShed().tools([weather, fail, paint]);

/** A model behind a real server that says what it is told to. */
async function modelThat(...answers: ServerAnswer[]) {
  const server = await ScriptedServer.start(answers);
  onTestFinished(() => server.close());
  const provider = createOpenAICompatible({
    name: "scripted",
    baseURL: `${server.url}/v1`,
    apiKey: "x",
    includeUsage: true,
  });
  return { model: provider("m"), server };
}

/** One turn, streamed: that is what the server speaks. */
async function ask(options: Parameters<typeof streamText>[0]) {
  const result = streamText({ stopWhen: isStepCount(5), ...options, onError: () => {} });
  return { text: await result.text, steps: await result.steps, messages: await result.responseMessages };
}

type Body = { tools?: { function: { name: string } }[]; messages: { role: string; content: unknown }[] };
const declared = (server: ScriptedServer) =>
  server.requests.map(({ body }) => ((body as unknown as Body).tools ?? []).map((tool) => tool.function.name));
const results = (server: ScriptedServer) => {
  const { messages } = (server.requests.at(-1)?.body ?? { messages: [] }) as unknown as Body;
  return messages.filter(({ role }) => role === "tool").map(({ content }) => content);
};

test("a model is offered shed alone, then what it looked up, and its calls run", async () => {
  const { model, server } = await modelThat(
    [{ call: "shed", arguments: { description: "weather of a city", limit: 1 } }],
    [{ call: "weather", arguments: { city: "Kyoto" } }],
    "It rains.",
  );
  await using bridged = await toAiSdkTools(shed);
  const { tools, prepareStep } = bridged;
  const { text, steps } = await ask({ model, prompt: "How is Kyoto?", tools, prepareStep });
  expect(text).toBe("It rains.");
  expect(declared(server)).toEqual([["shed"], ["shed", "weather"], ["shed", "weather"]]);
  expect(results(server)).toEqual([expect.stringContaining("- weather(city)"), "Rain in Kyoto."]);
  expect(steps[1]?.toolResults[0]).toMatchObject({
    toolName: "weather",
    output: { status: "done", content: [{ text: "Rain in Kyoto." }] },
  });
});

test("where tools are called by name, what is offered stays as it is", async () => {
  const { model, server } = await modelThat(
    [{ call: "shed", arguments: { description: "weather of a city", limit: 1 } }],
    [{ call: "use_tool", arguments: { tool_name: "weather", tool_input: { city: "Kyoto" } } }],
    "It rains.",
  );
  await using bridged = await toAiSdkTools(shed.callByName());
  const { tools, prepareStep } = bridged;
  const { text } = await ask({ model, prompt: "How is Kyoto?", tools, prepareStep });
  expect(text).toBe("It rains.");
  expect(declared(server)).toEqual(Array.from({ length: 3 }, () => ["shed", "use_tool"]));
  expect(JSON.stringify(results(server))).toContain("Rain in Kyoto.");
  const { tools: sent } = server.requests[0]?.body ?? {};
  const parameters = { properties: { tool_input: { additionalProperties: {} } } };
  expect(sent).toMatchObject([{}, { function: { parameters } }]);
});

test("what a model is told of a tool does not change the tool", async () => {
  const open = { type: "object", properties: { any: { type: "object" } } };
  const before = structuredClone(open);
  const { model } = await modelThat("Hi.");
  await using bridged = await toAiSdkTools(new ToolShed().tool(new FnTool("open", "Open.", open, async () => "")), {
    offer: "whole",
  });
  await ask({ model, prompt: "Hi", tools: bridged.tools });
  expect(open).toEqual(before);
});

test("the whole: every tool is offered, and no shed", async () => {
  const { model, server } = await modelThat([{ call: "weather", arguments: { city: "Oslo" } }], "Rain.");
  const { tools, prepareStep } = await toAiSdkTools(shed, { offer: "whole" });
  await ask({ model, prompt: "Oslo?", tools, prepareStep });
  expect(declared(server)[0]).toEqual(["weather", "fail", "paint"]);
  expect(results(server)).toEqual(["Rain in Oslo."]);
});

test("arguments are repaired or told to be mended, failures are told, and the call goes on", async () => {
  const { model, server } = await modelThat(
    [
      { call: "weather", arguments: {} },
      { call: "weather", arguments: { weather: { city: "Rome" } } },
      { call: "fail", arguments: {} },
    ],
    "Done.",
  );
  const { tools, prepareStep } = await toAiSdkTools(shed, { offer: "whole" });
  await ask({ model, prompt: "?", tools, prepareStep });
  expect(results(server)).toEqual([
    expect.stringContaining("city: wanted a string"),
    "Rain in Rome.",
    "There is none.",
  ]);
});

test("pictures reach the model as pictures, and messages survive being stored", async () => {
  const { model, server } = await modelThat([{ call: "paint", arguments: {} }], "Nice.", "Still nice.");
  const { tools, prepareStep } = await toAiSdkTools(shed, { offer: "whole" });
  const options = { model, tools, prepareStep };
  const first = await ask({ ...options, prompt: "Paint." });
  expect(JSON.stringify(results(server))).toContain(PNG);
  const stored: ModelMessage[] = JSON.parse(JSON.stringify(first.messages));
  const { text } = await ask({
    ...options,
    messages: [{ role: "user", content: "Paint." }, ...stored, { role: "user", content: "And?" }],
  });
  expect(text).toBe("Still nice.");
  expect(JSON.stringify(results(server))).toContain(PNG);
});

test("streaming: progress comes as preliminary results, before the last one", async () => {
  const slow: ToolImpl = {
    definition: () => ({
      type: "single",
      definition: { name: "slow", category: "x", description: "Slow.", arguments: { type: "object" } },
    }),
    async *execute() {
      yield { type: "progress", text: "half way", data: 1 };
      await new Promise((resolve) => setImmediate(resolve));
      yield { type: "result", result: ToolCallResult.text("there") };
    },
  };
  const { model } = await modelThat([{ call: "slow", arguments: {} }], "Done.");
  const { tools, prepareStep } = await toAiSdkTools(new ToolShed().tool(slow), { offer: "whole" });
  const seen: unknown[] = [];
  for await (const part of streamText({ model, prompt: "?", tools, prepareStep, stopWhen: isStepCount(3) }).stream)
    if (part.type === "tool-result") seen.push({ preliminary: part.preliminary ?? false, output: part.output });
  expect(seen[0]).toEqual({ preliminary: true, output: { status: "running", text: "half way", data: 1 } });
  expect(seen.at(-1)).toEqual({
    preliminary: false,
    output: { status: "done", content: [{ type: "text", text: "there" }] },
  });
});

test("an abort of the call ends the tool", async () => {
  const controller = new AbortController();
  let ended = false;
  const hang: ToolImpl = {
    definition: () => ({
      type: "single",
      definition: { name: "hang", category: "x", description: "Hangs.", arguments: { type: "object" } },
    }),
    execute: (_, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          ended = true;
          reject(signal.reason);
        });
        controller.abort();
      }),
  };
  const { model } = await modelThat([{ call: "hang", arguments: {} }], "Done.");
  const { tools, prepareStep } = await toAiSdkTools(new ToolShed().tool(hang), { offer: "whole" });
  const running = ask({ model, prompt: "?", tools, prepareStep, abortSignal: controller.signal });
  await expect(running).rejects.toThrow();
  expect(ended).toBe(true);
});

test("a tool that comes later is offered from the next step on, and one that goes is not", async () => {
  const { model, server } = await modelThat(
    [{ call: "grow", arguments: {} }],
    [{ call: "weather", arguments: { city: "Bonn" } }],
    "Done.",
  );
  const grow = new FnTool("grow", "Grows.", { type: "object" }, async () => {
    bridged.manager.register(weather);
    bridged.manager.deregister("fail");
    return "grown";
  });
  const bridged = await toAiSdkTools(new ToolShed().tools([grow, fail]), { offer: "whole" });
  const { tools, prepareStep } = bridged;
  await ask({ model, prompt: "?", tools, prepareStep });
  expect(declared(server)).toEqual([
    ["grow", "fail"],
    ["grow", "weather"],
    ["grow", "weather"],
  ]);
  expect(results(server)).toEqual(["grown", "Rain in Bonn."]);
});

test("generateText with a model of no wire at all", async () => {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const call = { type: "tool-call" as const, toolCallId: "1", toolName: "weather", input: '{"city":"Lima"}' };
  const model = new MockLanguageModelV4({
    doGenerate: [
      { content: [call], finishReason: { unified: "tool-calls", raw: undefined }, usage, warnings: [] },
      {
        content: [{ type: "text", text: "Rain." }],
        finishReason: { unified: "stop", raw: undefined },
        usage,
        warnings: [],
      },
    ],
  });
  const { tools, prepareStep } = await toAiSdkTools(shed, { offer: "whole" });
  const { text } = await generateText({ model, prompt: "Lima?", tools, prepareStep, stopWhen: isStepCount(3) });
  expect(text).toBe("Rain.");
  expect(model.doGenerateCalls.map((each) => each.tools?.length)).toEqual([3, 3]);
  expect(JSON.stringify(model.doGenerateCalls[1]?.prompt)).toContain("Rain in Lima.");
});

test("a call that asks a person waits for the AI SDK's approval, also by use_tool, and never runs inside another", async () => {
  const ran: unknown[] = [];
  const n = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const taken = await fromAiSdkTools({
    pay: tool({
      description: "Pays.",
      inputSchema: jsonSchema<{ n: number }>(n as never),
      needsApproval: ({ n }) => n > 10,
      execute: ({ n }) => {
        ran.push(n);
        return "paid";
      },
    }),
  });
  const around = new FnTool("around", "Pays by pay.", { type: "object" }, async (_, { dispatch }) => {
    const paid = await dispatch?.("pay", { n: 99 });
    return paid?.text ?? "nothing";
  });
  const tools = new ToolShed().tools([...taken, around]);
  const { model } = await modelThat(
    [
      { call: "pay", arguments: { n: 10 } },
      { call: "pay", arguments: { n: 11 } },
    ],
    [{ call: "around", arguments: {} }],
    "Done.",
  );
  await using whole = await toAiSdkTools(tools, { offer: "whole" });
  const asked = await ask({ model, prompt: "Pay", tools: whole.tools });
  expect(ran).toEqual([10]);
  const request = asked.steps.at(-1)?.content.find((part) => part.type === "tool-approval-request");
  if (request?.type !== "tool-approval-request") throw new Error("nobody was asked");
  expect(request.toolCall.input).toEqual({ n: 11 });
  const answer = { type: "tool-approval-response" as const, approvalId: request.approvalId, approved: true };
  const messages: ModelMessage[] = [
    { role: "user", content: "Pay" },
    ...asked.messages,
    { role: "tool", content: [answer] },
  ];
  const answered = await ask({ model, messages, tools: whole.tools });
  expect(answered.text).toBe("Done.");
  expect(ran).toEqual([10, 11]); // not 99
  expect(JSON.stringify(answered.messages)).toContain("cannot get");

  await using byName = await toAiSdkTools(tools.callByName());
  const needs = (tool_input: object) =>
    byName.tools.use_tool?.needsApproval({ tool_name: "pay", tool_input } as ToolArguments);
  expect([needs({ n: 11 }), needs({ n: 10 }), needs({})]).toEqual([true, false, false]);
  expect(byName.tools.shed?.needsApproval({ description: "pay" })).toBe(false);
});

test("a tool that looks whether somebody was asked sees that it was let run, or what its host put there", async () => {
  const seen: unknown[] = [];
  const look: ToolImpl = {
    definition: () => ({
      type: "single",
      definition: { name: "look", category: "x", description: "Looks.", arguments: { type: "object" } },
    }),
    metadata: { id: "look", namespace: "x", kind: "other", capabilities: capabilitiesFor("other"), asks: () => true },
    execute: async (_, ctx) => {
      seen.push(ctx.resources.get(userAnswers)?.get(ctx.callId));
      return ToolCallResult.text("seen");
    },
  };
  await using bridged = await toAiSdkTools(new ToolShed().tool(look), { offer: "whole" });
  const answers = bridged.manager.resources.getOrDefault(userAnswers, () => new Map());
  answers.set("2", "yes, but slowly");
  for (const toolCallId of ["1", "2"]) for await (const _ of bridged.tools.look?.execute({}, { toolCallId }) ?? []);
  expect(seen).toEqual([null, "yes, but slowly"]);
  expect(answers.size).toBe(0);
});

/** A tool that remembers, and whose session lets nobody pay; one that would; one that has the other called. */
const guarded = new ToolShed().tools([
  toolFn("keep", ({ memory, resources }) => {
    const gate: CallGate = ({ tool }) => (tool === "pay" ? { deny: "nothing is paid now" } : undefined);
    resources.getOrDefault(callGates, () => new Set()).add(gate);
    return new FnTool("keep", "Keeps a fact.", { type: "object" }, async () => {
      await memory.edit((facts) => [...facts, "tea"]);
      return `${(await memory.facts()).length} kept`;
    });
  }),
  new FnTool("pay", "Pays.", { type: "object" }, async () => "paid"),
  new FnTool("around", "Pays by pay.", { type: "object" }, async (_, { dispatch }) => {
    return (await dispatch?.("pay", {}))?.text ?? "nothing";
  }),
]);

test("its tools remember as long as they are there, and what guards the session is asked, by every way", async () => {
  await using bridged = await toAiSdkTools(guarded.callByName());
  await using whole = await toAiSdkTools(guarded, { offer: "whole" });
  const say = async (tools: typeof whole.tools, name: string, input: ToolArguments = {}) => {
    let said: unknown;
    for await (const output of tools[name]?.execute(input, { toolCallId: name }) ?? []) said = output;
    return said;
  };
  expect(await say(whole.tools, "keep")).toMatchObject({ content: [{ text: "1 kept" }] });
  expect(await say(whole.tools, "keep")).toMatchObject({ content: [{ text: "2 kept" }] });
  const refusal = {
    errorDetail: "permissionDenied",
    content: [{ text: expect.stringContaining("nothing is paid now") }],
  };
  expect(await say(whole.tools, "pay")).toMatchObject(refusal);
  expect(await say(whole.tools, "around")).toMatchObject(refusal);
  await say(bridged.tools, "shed", { description: "pay" });
  expect(await say(bridged.tools, "use_tool", { tool_name: "pay", tool_input: {} })).toMatchObject(refusal);
});

test("a guarded call whose tool cannot say what it accesses is refused, and the session goes on", async () => {
  const plain = new FnTool("lost", "Is lost.", { type: "object" }, async () => "ran");
  const access = () => {
    throw new Error("no idea where");
  };
  const lost: ToolImpl = {
    definition: () => plain.definition(),
    metadata: { id: "lost", namespace: "x", kind: "other", capabilities: capabilitiesFor("other"), access },
    execute: (args, ctx) => plain.execute(args, ctx),
  };
  await using bridged = await toAiSdkTools(guarded.tool(lost), { offer: "whole" });
  const said = [];
  for (const name of ["lost", "keep"])
    for await (const output of bridged.tools[name]?.execute({}, { toolCallId: name }) ?? []) said.push(output);
  expect(said).toMatchObject([
    { errorDetail: "permissionDenied", content: [{ text: expect.stringContaining("no idea where") }] },
    { content: [{ text: "1 kept" }] },
  ]);
});
