import { ToolShed } from "@shedkit/shed";
import { ScriptedProvider } from "@shedkit/testing";
import { FnTool } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { AgentSession } from "../src/index.js";
import { collect, echoTool, generationError, readOnly, sessionOf } from "./helpers.js";

describe("a turn", () => {
  it("answers, with its records in the log and a summary last", async () => {
    const session = await AgentSession.builder(new ScriptedProvider(["Hello there."]))
      .withModel("m")
      .build();
    const turn = await session.runTurn("Hi");
    expect(turn.text).toBe("Hello there.");
    expect(turn.failure).toBeUndefined();
    expect([...turn].map((record) => record.type)).toEqual(["conversation", "conversation", "step", "summary"]);
    expect(turn.at(-1)).toMatchObject({ type: "summary", messageCount: 2, usage: { input: 10 } });
    const stored = await collect(session.docStore.read(session.sessionId));
    expect(stored.map(({ record }) => record)).toEqual([...turn]);
    await session.end();
  });

  it("looks tools up with shed, runs what it found, and answers from the result", async () => {
    const provider = new ScriptedProvider([
      { call: "shed", arguments: { description: "echo a text" } },
      { call: "echo", arguments: { text: "hi" } },
      "It says hi.",
    ]);
    const session = await AgentSession.builder(provider)
      .withModel("m")
      .withToolshed(new ToolShed().tool(echoTool()))
      .build();
    const turn = await session.runTurn("What does echo say to hi?");
    expect(turn.text).toBe("It says hi.");
    expect(turn.toolCalls().map((call) => call.name)).toEqual(["shed", "echo"]);
    expect(turn.toolResults()[1]).toMatchObject({ name: "echo", content: [{ type: "text", text: "echo: hi" }] });
    expect(provider.requests[0]?.tools.tools).toEqual([]);
    expect(provider.requests[1]?.tools.activations).toEqual([{ name: "echo", by: { toolCallId: "call_1" } }]);
    const types = [...turn].map((record) => record.type);
    expect(types).toEqual([
      "conversation",
      ...["conversation", "step", "toolStarted", "activated", "conversation", "toolFinished"],
      ...["conversation", "step", "toolStarted", "conversation", "toolFinished"],
      ...["conversation", "step", "summary"],
    ]);
    await session.end();
  });

  it("shows what was said before it failed, then the error, with the usage", async () => {
    const error = generationError("server");
    const provider = new ScriptedProvider([["Half an ", { fail: error }]]);
    const session = await AgentSession.builder(provider).withModel("m").build();
    const turn = await session.runTurn("Hi");
    expect(turn.text).toBe("Half an ");
    expect(turn.failure).toBe(error);
    expect(turn.usage?.input).toBe(10);
    expect(turn.at(-1)?.type).toBe("failedAction");
    const answer = await AgentSession.builder(new ScriptedProvider([["Half an ", { fail: error }]]))
      .withModel("m")
      .build()
      .then((other) => other.ask("Hi"));
    expect(answer).toMatchObject({ type: "failed", partialText: "Half an ", text: "Half an ", isComplete: false });
    expect(() => answer.intoResult()).toThrow(error);
    await session.end();
  });

  it("gives every call of a batch the error of a circle among them, and goes on", async () => {
    const provider = new ScriptedProvider([
      [
        { output: { type: "toolCall", id: "a", name: "echo", arguments: { text: "1" }, dependsOn: ["b"] } },
        { output: { type: "toolCall", id: "b", name: "echo", arguments: { text: "2" }, dependsOn: ["a"] } },
      ],
      "Sorry.",
    ]);
    const session = await sessionOf(provider, echoTool()).build();
    const turn = await session.runTurn("Hi");
    expect(turn.failure).toBeUndefined();
    expect(turn.toolResults().map((result) => result.toolCallId)).toEqual(["a", "b"]);
    for (const result of turn.toolResults()) expect(result.errorDetail).toBeDefined();
    expect(turn.text).toBe("Sorry.");
  });

  it("makes the ids of calls unique where a provider repeats its own", async () => {
    const call = { call: "echo", id: "call_0", arguments: { text: "x" } };
    const provider = new ScriptedProvider([[call, call], call, "Done."]);
    const session = await sessionOf(provider, echoTool()).build();
    const turn = await session.runTurn("Hi");
    const ids = turn.toolCalls().map((made) => made.id);
    expect(new Set(ids).size).toBe(3);
    expect(turn.toolResults().map((result) => result.toolCallId)).toEqual(ids);
    expect(turn.toolCalls().map((made) => made.providerCallId)).toEqual(["call_0", "call_0", "call_0"]);
  });

  it("keeps results in the order of the calls for the model, and records them as they come", async () => {
    const gates = new Map<string, () => void>();
    const slow = new FnTool(
      "slow",
      "Waits.",
      { type: "object", properties: { n: { type: "string" } } },
      async (args) => {
        const n = args.str("n");
        if (n === "1") await new Promise<void>((resolve) => gates.set(n, resolve));
        else gates.get("1")?.();
        return n;
      },
    );
    const provider = new ScriptedProvider([
      [
        { call: "slow", arguments: { n: "1" } },
        { call: "slow", arguments: { n: "2" } },
      ],
      "Done.",
    ]);
    const session = await sessionOf(provider, readOnly(slow)).build();
    await session.runTurn("Hi");
    const sent = provider.requests[1]?.messages ?? [];
    expect(sent.slice(-2).map((message) => message.type === "toolResult" && message.toolCallId)).toEqual([
      "call_1",
      "call_2",
    ]);
  });

  it("ends past its limit of rounds with one answer without tools", async () => {
    const provider = new ScriptedProvider((request, index) =>
      request.tools.shed ? { call: "echo", arguments: { text: String(index) } } : "That is all I know.",
    );
    const session = await sessionOf(provider, echoTool()).withConfig({ maxInnerIterations: 3 }).build();
    const turn = await session.runTurn("Hi");
    expect(turn.failure).toBeUndefined();
    expect(turn.text).toBe("That is all I know.");
    expect(turn.toolCalls()).toHaveLength(3);
    expect(provider.requests).toHaveLength(4);
  });

  it("fails with a valid log when the model calls tools past its limit", async () => {
    const provider = new ScriptedProvider((_, index) => ({ call: "echo", arguments: { text: String(index) } }));
    const session = await sessionOf(provider, echoTool()).build();
    const turn = await session.runTurn("Hi", { maxSteps: 2 });
    expect(turn.failure).toMatchObject({ code: "session", details: { reason: "inner limit" } });
    expect(turn.failure?.message).toMatch(/limit of 2 rounds.*\(maxSteps\)\.$/);
    expect(turn.toolResults()).toHaveLength(turn.toolCalls().length);
  });

  it("counts what a backend reports as no number for nothing, so that budgets and triggers hold", async () => {
    const odd = { input: Number.NaN, output: undefined as never, reasoning: -1, total: Number.POSITIVE_INFINITY };
    const provider = new ScriptedProvider([{ parts: ["One."], usage: { ...odd, cacheRead: 5 } }, "Two."]);
    const session = await sessionOf(provider).build();
    const turn = await session.runTurn("Hi");
    expect(turn.usage).toEqual({ input: 0, output: 0, cacheRead: 5, cacheWrite: 0, reasoning: 0, total: 5 });
    expect(session.usage.total).toBe(5);
    await session.runTurn("Again");
    expect(Number.isFinite(session.usage.total)).toBe(true);
  });

  it.each([Number.NaN, -1, "5" as never])("refuses %s for its limit of rounds", async (maxSteps) => {
    const session = await sessionOf(new ScriptedProvider(["Yes."])).build();
    await expect(session.runTurn("Hi", { maxSteps })).rejects.toMatchObject({
      code: "session",
      message: expect.stringMatching(/^maxSteps must be a number from 0 on, not /),
    });
    expect((await session.ask("Hi")).text).toBe("Yes.");
  });

  it.each([
    [undefined, /The prompt is empty/],
    [null, /The prompt is empty/],
    ["  ", /The prompt is empty/],
    [5, /a text or a message, not a number/],
  ])("refuses %s for a prompt, in whatever way it is said", async (prompt, message) => {
    const session = await sessionOf(new ScriptedProvider(["Yes."])).build();
    const refused = { code: "session", message: expect.stringMatching(message) };
    await expect(session.ask(prompt as never)).rejects.toMatchObject(refused);
    await expect(session.runTurn(prompt as never)).rejects.toMatchObject(refused);
    for (const say of ["runTurnStream", "steer", "followUp"] as const) {
      expect(() => session[say](prompt as never)).toThrow(message);
    }
    expect((await session.ask("Hi")).text).toBe("Yes.");
  });
});
