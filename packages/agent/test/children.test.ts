import { ToolShed } from "@shedkit/shed";
import { Gate, ScriptedProvider } from "@shedkit/testing";
import { FnTool, type ToolConstructor, toolFn } from "@shedkit/tool";
import { AgenticError, type AgentSpawner, type ChildAgent } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { AgentSession } from "../src/index.js";
import { collect, echoTool, hangingTool, transcript } from "./helpers.js";

/** A session, and what a tool of its may start. */
async function spawning(
  child: ScriptedProvider,
  change: (builder: ReturnType<typeof AgentSession.builder>) => ReturnType<typeof AgentSession.builder> = (b) => b,
) {
  let spawn: AgentSpawner | undefined;
  const noTools = { type: "object", properties: {} };
  const delegate: ToolConstructor = toolFn("delegate", (parts) => {
    spawn ??= parts.spawn;
    return new FnTool("delegate", "Starts a sub-agent.", noTools, async () => {
      const started = await parts.spawn?.start({ task: "Go deeper" });
      return (await started?.result()) ?? "";
    });
  });
  const shed = new ToolShed().tools([delegate, echoTool()]).pin("delegate", "echo");
  const session = await change(
    AgentSession.builder(child).withModel("m").withSystemPrompt("Be kind.").withToolshed(shed),
  ).build();
  return { session, spawn: spawn as AgentSpawner };
}

describe("a sub-agent", () => {
  it("works on its task by itself, in a log of its own, with the session's models, stores and tools", async () => {
    const provider = new ScriptedProvider([{ call: "echo", arguments: { text: "a" } }, "It says a."]);
    const { session, spawn } = await spawning(provider);
    const child = await spawn.start({ task: "What does it say?" });
    expect(child.status()).toEqual({ type: "running", step: 0 });
    expect(await child.result()).toBe("It says a.");
    expect(child.status()).toMatchObject({ type: "done", summary: "It says a.", usage: { input: 20 } });
    expect(provider.requests[0]).toMatchObject({ system: "Be kind.", model: { name: "m" } });
    const log = await collect(session.docStore.read(child.id as typeof session.sessionId));
    expect(log.at(-1)?.record.type).toBe("summary");
    expect(await collect(session.messages())).toEqual([]);
    await session.end();
  });

  it("can have another model, another prompt, other tools and fewer steps", async () => {
    const provider = new ScriptedProvider([{ call: "only" }, "Summed up."]);
    const only = new FnTool("only", "Does it.", { type: "object", properties: {} }, async () => "done");
    const toolshed = new ToolShed().tool(only).pin("only");
    const { session, spawn } = await spawning(provider, (builder) => builder.withChildren({ toolshed }));
    const child = await spawn.start({ task: "Do it", model: "small", system: "Be brief.", maxSteps: 1 });
    expect(await child.result()).toBe("Summed up.");
    const [first, last] = provider.requests;
    expect(first).toMatchObject({ system: "Be brief.", model: { name: "small" } });
    expect(first?.tools.activations.map(({ name }) => name)).toEqual(["only"]);
    expect(last?.tools.tools).toEqual([]); // its one step is used up
    await session.end();
  });

  it("can be asked for its answer later, by its id: to its last task alone, and not before there is one", async () => {
    const gate = new Gate();
    const provider = new ScriptedProvider([
      "First.",
      [{ wait: gate }, { call: "echo", arguments: { text: "a" } }],
      "Second.",
    ]);
    const { session, spawn } = await spawning(provider);
    const child = await spawn.start({ task: "One" });
    await child.result();
    expect(await spawn.ended?.(child.id)).toMatchObject({ type: "done", summary: "First.", usage: { input: 10 } });
    const again = await spawn.start({ task: "Two", resume: child.id });
    await gate.reached;
    expect(await spawn.ended?.(child.id)).toBeUndefined();
    gate.open();
    await again.result();
    expect(await spawn.ended?.(child.id)).toEqual(again.status());
    expect(await spawn.ended?.("unheard-of")).toBeUndefined();
    await expect(spawn.ended?.(child.id, AbortSignal.abort())).rejects.toThrow();
    const stopped = await spawn.start({ task: "Three" });
    await stopped.stop();
    expect(await spawn.ended?.(stopped.id)).toEqual(stopped.status());
    await session.end();
  });

  it("is held before its next model call, not by being looked at less", async () => {
    const gate = new Gate();
    const provider = new ScriptedProvider([[{ wait: gate }, { call: "echo", arguments: { text: "a" } }], "Done."]);
    const { session, spawn } = await spawning(provider);
    const child = await spawn.start({ task: "Slowly" });
    await gate.reached;
    child.pause();
    expect(child.status()).toEqual({ type: "paused" });
    gate.open();
    await settled(session, child, (records) => records.some((type) => type === "step"));
    expect(provider.requests).toHaveLength(1);
    expect(await types(session, child)).not.toContain("toolStarted");
    child.resume();
    expect(await child.result()).toBe("Done.");
    await session.end();
  });

  it("can be stopped, also while it is held", async () => {
    const { tool, started, cancelled } = hangingTool();
    const provider = new ScriptedProvider([{ call: "hang" }]);
    const toolshed = new ToolShed().tool(tool).pin("hang");
    const { session, spawn } = await spawning(provider, (builder) => builder.withChildren({ toolshed }));
    const child = await spawn.start({ task: "Hang" });
    await started;
    child.pause();
    await child.stop();
    expect(cancelled()).toBe(true);
    expect(child.status()).toMatchObject({ type: "failed", error: { code: "cancelled" } });
    await expect(child.result()).rejects.toMatchObject({ code: "cancelled" });
    await session.end();
  });

  it("ends with the session that started it", async () => {
    const { tool, started, cancelled } = hangingTool();
    const toolshed = new ToolShed().tool(tool).pin("hang");
    const provider = new ScriptedProvider([{ call: "hang" }]);
    const { session, spawn } = await spawning(provider, (builder) => builder.withChildren({ toolshed }));
    const child = await spawn.start({ task: "Hang" });
    await started;
    await session.end();
    expect(cancelled()).toBe(true);
    expect(child.status().type).toBe("failed");
    await expect(spawn.start({ task: "More" })).rejects.toMatchObject({ details: { reason: "ended" } });
  });

  it("starts none of its own, unless it may", async () => {
    const provider = new ScriptedProvider(({ messages }) =>
      messages.length === 1 ? { call: "delegate" } : (transcript(messages).at(-1) ?? ""),
    );
    const { session, spawn } = await spawning(provider);
    expect(await (await spawn.start({ task: "One" })).result()).toContain("starts no sub-agents of its own");
    await session.end();
    const deeper = await spawning(provider, (builder) => builder.withChildren({ maxDepth: 2 }));
    provider.requests.length = 0;
    await (await deeper.spawn.start({ task: "One" })).result();
    expect(transcript(provider.requests.flatMap(({ messages }) => messages[0] ?? []))).toContain("user: Go deeper");
    await deeper.session.end();
    const none = await spawning(provider, (builder) => builder.withChildren({ maxDepth: 0 }));
    await expect(none.spawn.start({ task: "One" })).rejects.toMatchObject({ details: { reason: "sub-agent depth" } });
    await none.session.end();
  });

  it("is refused without a task, and when too many run", async () => {
    const gate = new Gate();
    const provider = new ScriptedProvider(() => [{ wait: gate }, "Done."]);
    const { session, spawn } = await spawning(provider, (builder) => builder.withChildren({ maxRunning: 1 }));
    await expect(spawn.start({ task: " " })).rejects.toMatchObject({ details: { reason: "empty prompt" } });
    const [first, second] = await Promise.allSettled([spawn.start({ task: "A" }), spawn.start({ task: "B" })]);
    expect(second).toMatchObject({ status: "rejected", reason: { details: { reason: "too many sub-agents" } } });
    gate.open();
    await (first as PromiseFulfilledResult<ChildAgent>).value.result();
    expect(await (await spawn.start({ task: "C" })).result()).toBe("Done.");
    await session.end();
  });

  it("is not let do what is asked each time, and hears why", async () => {
    const provider = new ScriptedProvider([{ call: "echo", arguments: { text: "a" } }, "Denied."]);
    const { session, spawn } = await spawning(provider, (builder) =>
      builder.withPermissions({ decide: async () => ({ ask: "it is loud" }) }),
    );
    expect(await (await spawn.start({ task: "One" })).result()).toBe("Denied.");
    expect(transcript(provider.requests[1]?.messages ?? []).at(-1)).toContain("it needs leave (it is loud)");
    await session.end();
  });

  it("spends the session's budget, and has its permissions but nobody to ask", async () => {
    const access = {
      ...{ canAccessSession: async () => true, canUseModel: async (_: string, model: string) => model === "m" },
      ...{ canUseTool: async () => true, canSpend: async () => true, recordUsage: async () => undefined },
      tokenBudget: async () => 50,
    };
    const call = { call: "echo", arguments: { text: "a" } };
    const provider = new ScriptedProvider([call, { parts: ["Denied."], usage: { input: 40, output: 1 } }]);
    const { session, spawn } = await spawning(provider, (builder) =>
      builder.withAccess(access).withPermissions({ decide: async () => "ask" }),
    );
    await expect(spawn.start({ task: "Other", model: "large" })).rejects.toMatchObject({ code: "session" });
    expect(await (await spawn.start({ task: "One" })).result()).toBe("Denied.");
    expect(transcript(provider.requests[1]?.messages ?? []).at(-1)).toContain("a sub-agent cannot ask");
    const turn = await session.runTurn("And me?");
    expect(AgenticError.is(turn.failure, "budgetExhausted")).toBe(true);
    await session.end();
  });
});

type Session = Awaited<ReturnType<typeof spawning>>["session"];

async function types(session: Session, child: ChildAgent): Promise<string[]> {
  const log = await collect(session.docStore.read(child.id as typeof session.sessionId));
  return log.map(({ record }) => record.type);
}

/** Waits until the child's log is as wanted, a turn of the event loop at a time. */
async function settled(session: Session, child: ChildAgent, wanted: (types: string[]) => boolean): Promise<void> {
  while (!wanted(await types(session, child))) await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}
