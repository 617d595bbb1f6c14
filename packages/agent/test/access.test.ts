import { ToolShed } from "@shedkit/shed";
import { type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import { FnTool } from "@shedkit/tool";
import type { Usage } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import type { SessionAccessProvider } from "../src/index.js";
import { collect, echoTool, sessionOf, transcript } from "./helpers.js";

function access(own: Partial<SessionAccessProvider>): SessionAccessProvider {
  return {
    canAccessSession: async () => true,
    canUseModel: async () => true,
    canUseTool: async () => true,
    canSpend: async () => true,
    recordUsage: async () => undefined,
    tokenBudget: async () => undefined,
    ...own,
  };
}

describe("access", () => {
  it("to the session and to its model is asked for when it is built", async () => {
    const asked: unknown[][] = [];
    const builder = sessionOf(new ScriptedProvider([])).withUser("ada").withSessionId("s");
    await expect(
      builder.withAccess(access({ canAccessSession: async (...args) => asked.push(args) < 0 })).build(),
    ).rejects.toMatchObject({ code: "session", details: { reason: "access denied" } });
    await expect(
      builder.withAccess(access({ canUseModel: async (...args) => asked.push(args) < 0 })).build(),
    ).rejects.toMatchObject({ details: { reason: "model not allowed" } });
    expect(asked).toEqual([
      ["ada", "s"],
      ["ada", "m"],
    ]);
    await (await builder.build()).end(); // the log was not taken
  });

  it("to the fallbacks and the memory model is asked for too", async () => {
    const only = access({ canUseModel: async (_, model) => model === "m" });
    const builder = sessionOf(new ScriptedProvider([])).withAccess(only);
    for (const change of [builder.withFallbackModels(["n"]), builder.withMemoryModel("n")]) {
      await expect(change.build()).rejects.toThrow('may not use the model "n"');
    }
  });

  it("is refused, by an error that says so, where the provider fails", async () => {
    const down = () => Promise.reject(new Error("The directory is down."));
    const failing = (own: Partial<SessionAccessProvider>, ...script: ScriptedAnswer[]) =>
      sessionOf(new ScriptedProvider(script), echoTool()).withAccess(access(own)).build();
    const named = { code: "session", details: { reason: "access provider failed" }, cause: expect.any(Error) };
    await expect(failing({ canAccessSession: down })).rejects.toMatchObject(named);
    await expect(failing({ tokenBudget: down })).rejects.toMatchObject(named);
    const poor = await failing({ canSpend: down }, "A");
    expect((await poor.runTurn("Hi")).failure).toMatchObject(named);
    const uncounted = await failing({ recordUsage: down }, "A");
    const turn = await uncounted.runTurn("Hi");
    expect(turn.text).toBe("A");
    expect(turn.failure).toMatchObject(named);
    const call = { call: "echo", arguments: { text: "a" } };
    const bound = await failing({ canUseTool: down }, call, "Done.");
    const [result] = (await bound.runTurn("Hi")).toolResults();
    expect(result?.errorDetail).toBeDefined();
    expect(JSON.stringify(result?.content)).toContain("The directory is down.");
  });

  it("to a turn's own model is asked for in the turn", async () => {
    const session = await sessionOf(new ScriptedProvider(["A"]))
      .withAccess(access({ canUseModel: async (_, model) => model === "m" }))
      .build();
    const turn = await session.runTurn("Hi", { model: "dear" });
    expect(turn.failure).toMatchObject({ details: { reason: "model not allowed" } });
    expect((await session.ask("Hi")).text).toBe("A");
  });

  it("to a tool is refused to the model, and `shed` does not return the tool", async () => {
    const provider = new ScriptedProvider([
      [
        { call: "shed", arguments: { description: "says a text" } },
        { call: "echo", arguments: { text: "x" } },
      ],
      "Done.",
    ]);
    const other = new FnTool("other", "Says a text too.", { type: "object" }, async () => "other");
    const session = await sessionOf(provider)
      .withToolshed(new ToolShed().tool(echoTool()).tool(other))
      .withAccess(access({ canUseTool: async (_, tool) => tool !== "echo" }))
      .build();
    const turn = await session.runTurn("Hi");
    const [found, refused] = transcript(await collect(session.messages())).filter((line) => line.includes("->"));
    expect(found).toContain("other");
    expect(found).not.toContain("echo(");
    expect(refused).toMatch(/may not be used/);
    expect(turn.text).toBe("Done.");
  });

  it("to spend is asked for before each request, and what was used is told after it", async () => {
    const asked: number[] = [];
    const told: Usage[] = [];
    const usage = { input: 40, output: 2 };
    const provider = new ScriptedProvider([
      { parts: [{ call: "echo", arguments: { text: "a" } }], usage },
      { parts: ["Done."], usage },
    ]);
    const session = await sessionOf(provider, echoTool())
      .withAccess(
        access({
          canSpend: async (_, tokens) => {
            asked.push(tokens);
            return asked.length < 3;
          },
          recordUsage: async (_, used) => {
            told.push(used);
          },
        }),
      )
      .build();
    await session.ask("Hi");
    expect(told).toMatchObject([{ total: 42 }, { total: 42 }]);
    expect(asked[1]).toBeGreaterThanOrEqual(42);
    expect(await session.ask("More")).toMatchObject({ type: "failed", error: { code: "budgetExhausted" } });
    expect(provider.requests).toHaveLength(2);
  });

  it("to more tokens than the budget ends the turn, and goes on once the budget was raised", async () => {
    let budget = 100;
    const usage = { input: 60, output: 0 };
    const step = { parts: [{ call: "echo", arguments: { text: "a" } }], usage };
    const provider = new ScriptedProvider([step, step, { parts: ["Done."], usage }]);
    const session = await sessionOf(provider, echoTool())
      .withAccess(access({ tokenBudget: async () => budget }))
      .build();
    const turn = await session.runTurn("Hi");
    expect(turn.failure).toMatchObject({ code: "budgetExhausted", details: { usage: { total: 120 } } });
    expect(turn.toolResults()).toHaveLength(2);
    // no request asks for more than what is left
    expect(provider.requests.map((request) => request.params.maxTokens)).toEqual([100, 40]);
    expect((await session.runTurn("Go on")).failure?.code).toBe("budgetExhausted");
    budget = 500;
    expect((await session.ask("Go on")).text).toBe("Done.");
  });
});
