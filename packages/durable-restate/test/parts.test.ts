import { AgentSession } from "@shedkit/agent";
import { ProviderRouter } from "@shedkit/provider";
import { ToolShed } from "@shedkit/shed";
import { Gate, ScriptedProvider } from "@shedkit/testing";
import { ToolCallResult, type ToolImpl, toolFn } from "@shedkit/tool";
import { Messages, type SessionRecord } from "@shedkit/types";
import { describe, expect, inject, it } from "vitest";
import { durable, serveDurable } from "../src/index.js";
import { agentOf, byStep, freeName, openStore, restate, running } from "./support/agent.js";
import { stepOf } from "./support/step.js";

const there = inject("restate") !== undefined;

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const typesOf = (records: readonly SessionRecord[]) => records.map(({ type }) => type);

function tool(name: string, run: () => string | Promise<string>, maxResultBytes?: number): ToolImpl {
  return {
    definition: () => ({
      type: "single",
      definition: { name, category: "test", description: "Does it.", arguments: { type: "object", properties: {} } },
    }),
    ...(maxResultBytes !== undefined && {
      metadata: {
        ...{ id: name, namespace: "test", kind: "other" },
        capabilities: {
          ...{ readOnly: false, idempotent: false, destructive: false, scope: "write", timeoutMs: 60_000 },
          ...{ maxResultBytes, touches: () => [] },
        },
      },
    }),
    execute: async () => ToolCallResult.text(await run()),
  };
}

describe.skipIf(!there)("what a session does beside asking its model", () => {
  it("lets the memory model work while the turn goes on, and keeps what it made", async () => {
    const provider = new ScriptedProvider((request) => {
      if (request.model.name === "memory") return '["The user counts."]';
      return stepOf(request) < 4 ? [{ call: "count" }] : "Counted.";
    });
    let n = 0;
    const agent = agentOf(provider, await openStore(), [tool("count", () => `${++n}`)])
      .withMemoryModel("memory")
      .withMemoryConfig({ observationTriggerTokens: 15 });
    const session = (await running(agent)).client(restate()).session();
    expect((await session.ask("Count")).text).toBe("Counted.");
    expect(typesOf(await all(session.records()))).toContain("observation");
    expect((await session.ask("And again")).text).toBe("Counted.");
  });

  it("loads its preset once in a process, and closes it with the worker", async () => {
    const done: string[] = [];
    const preset = {
      models: { primary: "m" },
      load: async () => {
        done.push("loaded");
        const router = ProviderRouter.single(byStep(["Hello."]));
        const close = router.close.bind(router);
        router.close = async () => {
          done.push("closed");
          await close();
        };
        return router;
      },
    };
    const builder = AgentSession.builder(preset).withDocStore(await openStore());
    const agent = durable({ name: freeName(), agent: builder });
    const worker = await serveDurable([agent], restate());
    for (const id of ["one", "two", "one"]) {
      expect((await agent.client(restate()).session(id).ask("Hi")).text).toBe("Hello.");
    }
    expect(done).toEqual(["loaded"]);
    await worker.close();
    expect(done).toEqual(["loaded", "closed"]);
  });

  it("makes the conversation shorter, as a step of its own", async () => {
    let step = -1;
    const provider = new ScriptedProvider((request) => {
      if (request.model.name === "memory") return "They spoke at length.";
      step++;
      const parts = step < 3 ? [{ call: "read" }] : ["Read it all."];
      return { parts, usage: { input: 3000 * (step + 1), output: 10, total: 3000 * (step + 1) + 10 } };
    });
    const agent = agentOf(provider, await openStore(), [tool("read", () => "word ".repeat(2000))])
      .withMemoryModel("memory")
      .withContextConfig({ window: 8000, keepRecentTokens: 1000, summaryTokens: 200 });
    const session = (await running(agent)).client(restate()).session();
    expect((await session.ask("Read")).text).toBe("Read it all.");
    expect(typesOf(await all(session.records()))).toContain("compaction");
  });

  it("has sub-agents, which work in their call and on the same store", async () => {
    const provider = new ScriptedProvider((request) => {
      const said = JSON.stringify(request.messages);
      if (said.includes("the small part")) return "The small part is 7.";
      return stepOf(request) === 0 ? [{ call: "delegate" }] : "It is 7.";
    });
    const store = await openStore();
    const delegate = toolFn("delegate", ({ spawn }) =>
      tool("delegate", async () => (await spawn?.start({ task: "Do the small part" }))?.result() ?? ""),
    );
    const shed = new ToolShed().tools([delegate]);
    const builder = AgentSession.builder(provider).withModel("m").withDocStore(store);
    const agent = await running(builder.withToolshed(shed.pin("delegate")));
    const session = agent.client(restate()).session();
    expect((await session.ask("Do it")).text).toBe("It is 7.");
    const results = JSON.stringify(await all(session.records()));
    expect(results).toContain("The small part is 7.");
    expect((await store.sessions({ limit: 10 })).items).toHaveLength(2);
  });
});

describe.skipIf(!there)("what travels", () => {
  it("may be large: a prompt, a result, an answer", { timeout: 120_000 }, async () => {
    const words = (kilobytes: number) => "word ".repeat(kilobytes * 200);
    const provider = byStep([[{ call: "read" }], words(50)]);
    const builder = agentOf(provider, await openStore(), [tool("read", () => words(4500), 20_000_000)]);
    const agent = await running(builder.withContextConfig({ window: 100_000_000 }));
    const session = agent.client(restate()).session();
    expect((await session.ask(`Read ${words(1000)}`)).text).toBe(words(50));
    const records = await all(session.records());
    expect(typesOf(records).at(-1)).toBe("summary");
    const results = records.flatMap((record) => {
      return record.type === "conversation" && record.message.type === "toolResult" ? [record.message.content] : [];
    });
    expect(results).toEqual([[{ type: "text", text: words(4500) }]]);
    await expect(session.ask(words(40_000))).rejects.toThrow("What was sent is too large for Restate");
  });

  it("is one turn, however often the same message is sent", async () => {
    const gate = new Gate();
    const agent = await running(agentOf(byStep([["Once ", { wait: gate }, "only."]]), await openStore()));
    const session = agent.client(restate()).session();
    const message = Messages.user("Hello");
    const first = session.ask(message);
    await gate.reached;
    const second = session.ask(message);
    gate.open();
    expect((await first).text).toBe("Once only.");
    expect((await second).text).toBe("Once only.");
    expect((await session.ask(message)).text).toBe("Once only.");
    expect(typesOf(await all(session.records()))).toEqual(["conversation", "conversation", "step", "summary"]);
  });

  it("runs the turns of one session one after the other, whoever asks for them", async () => {
    let running_ = 0;
    let most = 0;
    const provider = new ScriptedProvider(async () => {
      most = Math.max(most, ++running_);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running_--;
      return "Yes.";
    });
    const agent = await running(agentOf(provider, await openStore()));
    const id = agent.client(restate()).session().sessionId;
    const asks = Array.from({ length: 10 }, () => agent.client(restate()).session(id).ask("Are you there?"));
    for (const answer of await Promise.all(asks)) expect(answer.text).toBe("Yes.");
    expect(most).toBe(1);
  });
});
