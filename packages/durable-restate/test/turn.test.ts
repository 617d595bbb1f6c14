import type { StreamItem } from "@shedkit/agent";
import { Gate, ScriptedProvider } from "@shedkit/testing";
import { ToolCallResult, type ToolImpl } from "@shedkit/tool";
import { AgenticError, type SessionId, type SessionRecord } from "@shedkit/types";
import { describe, expect, inject, it } from "vitest";
import { agentOf, byStep, openStore, restate, running } from "./support/agent.js";
import { stepOf } from "./support/step.js";

const there = inject("restate") !== undefined;

/** A tool without arguments. */
function tool(name: string, run: () => string | Promise<string>): ToolImpl {
  return {
    definition: () => ({
      type: "single",
      definition: { name, category: "test", description: "Does it.", arguments: { type: "object", properties: {} } },
    }),
    execute: async () => ToolCallResult.text(await run()),
  };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const typesOf = (records: readonly SessionRecord[]) => records.map(({ type }) => type);

describe.skipIf(!there)("a turn on Restate", () => {
  it("answers, and its log lies in the shared store", async () => {
    const store = await openStore();
    const agent = await running(agentOf(byStep(["Hello."]), store));
    const session = agent.client(restate()).session();
    const answer = await session.ask("Hi");
    expect(answer).toMatchObject({ type: "complete", text: "Hello." });
    const stored = await all(store.read(session.sessionId as SessionId));
    expect(typesOf(stored.map(({ record }) => record))).toEqual(["conversation", "conversation", "step", "summary"]);
    expect(typesOf(await all(session.records()))).toEqual(["conversation", "conversation", "step", "summary"]);
  });

  it("runs calls, at the same time where they may, and goes on over turns", async () => {
    const store = await openStore();
    let runs = 0;
    const provider = byStep([[{ call: "one" }, { call: "two" }], [{ call: "one" }], "Done."]);
    const tools = ["one", "two"].map((name) => tool(name, () => `${name} ${++runs}`));
    const agent = await running(agentOf(provider, store, tools));
    const session = agent.client(restate()).session();
    expect((await session.ask("Go")).text).toBe("Done.");
    expect(runs).toBe(3);
    expect((await session.ask("And again")).text).toBe("Done.");
    expect(runs).toBe(6);
    const resumed = await agent.client(restate()).resume(session.sessionId);
    expect((await resumed.ask("Once more")).type).toBe("complete");
  });

  it("gives the answer as a value of a schema, also where it is mended", async () => {
    const provider = new ScriptedProvider(["Four", '{"n": 4}']);
    const agent = await running(agentOf(provider, await openStore()));
    const output = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as never;
    const answer = await agent.client(restate()).session().ask("How many are there?", { output });
    expect(answer).toMatchObject({ type: "complete", value: { n: 4 } });
  });

  it("says of a turn that failed what it came to", async () => {
    const failing = new ScriptedProvider(() => {
      throw new AgenticError("auth", "The key is wrong.", { provider: "p" });
    });
    const agent = await running(agentOf(failing, await openStore()));
    const answer = await agent.client(restate()).session().ask("Hi");
    expect(answer).toMatchObject({ type: "failed", error: { code: "auth", message: "The key is wrong." } });
    expect(answer.type === "failed" && AgenticError.is(answer.error, "auth")).toBe(true);
  });

  it("shows what it makes as it comes, each record once", async () => {
    const store = await openStore();
    const gate = new Gate();
    const provider = new ScriptedProvider(async (request) => {
      if (stepOf(request) === 0) return ["Let me see. ", { call: "one" }];
      await gate.wait();
      return "Here it is.";
    });
    const agent = await running(agentOf(provider, store, [tool("one", () => "1")]));
    const session = agent.client(restate()).session();
    const turn = session.runTurnStream("Go");
    const items: StreamItem[] = [];
    for await (const item of turn) {
      items.push(item);
      if (item.type === "record" && item.record.type === "toolFinished") gate.open();
    }
    const shown = items.flatMap((item) => (item.type === "record" ? [item.record] : []));
    expect(shown).toEqual(await all(session.records()));
    expect(items.some((item) => item.type === "delta" && item.text.includes("Let me"))).toBe(true);
    expect((await turn.done()).text).toContain("Here it is.");
  });

  it("hears steering and follow-ups while it runs, and an abort", async () => {
    const store = await openStore();
    const started = new Gate();
    const provider = new ScriptedProvider((request) => {
      const said = JSON.stringify(request.messages);
      if (said.includes("Stop and wait")) {
        return ["I ", { wait: started }, "wait."];
      }
      if (said.includes("Faster")) return "Fast.";
      return [{ call: "wait" }];
    });
    const waiting = new Gate();
    const wait = tool("wait", async () => `${await waiting.wait()}`);
    const agent = await running(agentOf(provider, store, [wait]));
    const session = agent.client(restate()).session();
    const asked = session.ask("Go");
    await waiting.reached;
    await session.steer("Faster");
    expect((await asked).text).toBe("Fast.");
    waiting.open();

    await session.followUp("This waits.");
    const again = session.ask("Stop and wait");
    await started.reached;
    expect(await session.abort("enough")).toBe(true);
    expect(await again).toMatchObject({ type: "failed", error: { code: "cancelled" } });
    expect(await session.abort()).toBe(false);
    const said = await all(session.records());
    const texts = JSON.stringify(said);
    expect(texts.match(/"Faster"/g)).toHaveLength(2); // queued, and taken
    expect(texts).toContain("This waits.");
  });

  it("waits for leave, and goes on where it is given", async () => {
    const store = await openStore();
    let runs = 0;
    const provider = byStep([[{ call: "pay" }, { call: "look" }], "Paid."]);
    const builder = agentOf(provider, store, [tool("pay", () => `${++runs}`), tool("look", () => "seen")]);
    const agent = await running(
      builder.withPermissions({ decide: async ({ tool }) => (tool === "pay" ? "ask" : "allow") }),
    );
    const session = agent.client(restate()).session();
    const turn = session.runTurnStream("Pay");
    for await (const item of turn) {
      if (item.type !== "record" || item.record.type !== "approvalRequested") continue;
      const { approvalId } = item.record;
      expect(await session.pendingApprovals()).toEqual([approvalId]);
      expect(runs).toBe(0);
      await expect(session.approve("unknown", { type: "deny" })).rejects.toThrow('waits for the approval "unknown"');
      await session.approve(approvalId, { type: "allow", scope: "once" });
    }
    expect((await turn.done()).text).toBe("Paid.");
    expect(runs).toBe(1);
    expect(await session.pendingApprovals()).toEqual([]);
  });
});
