import { Gate, ScriptedProvider } from "@shedkit/testing";
import { capabilitiesFor, ToolCallResult, type ToolImpl, userAnswers } from "@shedkit/tool";
import { textOfContent } from "@shedkit/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { durable, serveDurable } from "../src/index.js";
import { agentOf, byStep, freeName, openStore } from "./support/agent.js";
import { type RestateServer, restateBinary, startRestate } from "./support/restate.js";

/** Looks again and again until there is something. The test's own time bounds it. */
async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A tool that asks a person, and gives back what they said. */
function asking(): ToolImpl {
  return {
    definition: () => ({
      type: "single",
      definition: {
        name: "ask",
        category: "test",
        description: "Asks.",
        arguments: { type: "object", properties: {} },
      },
    }),
    metadata: {
      ...{ id: "ask", namespace: "test", kind: "askUser" },
      capabilities: capabilitiesFor("askUser", {}),
      asks: () => true,
    },
    execute: async (_, { callId, resources }) => {
      return ToolCallResult.text(`They said ${JSON.stringify(resources.get(userAnswers)?.get(callId))}`);
    },
  };
}

/** A model that asks, then repeats what it was told. */
function repeating(): ScriptedProvider {
  return new ScriptedProvider(({ messages }) => {
    const last = messages.at(-1);
    return last?.type === "toolResult" ? textOfContent(last.content) : [{ call: "ask" }];
  });
}

const binary = restateBinary();

describe.skipIf(binary === undefined)("a question to a person", () => {
  let restate: RestateServer;
  beforeAll(async () => {
    restate = await startRestate(binary as string);
  });
  afterAll(() => restate?.stop());

  /** An agent with one worker, always at the same address, that can be replaced. */
  async function asked(stepTimeoutMs?: number) {
    const store = await openStore();
    const name = freeName();
    const made = () => durable({ name, stepTimeoutMs, agent: agentOf(repeating(), store, [asking()]) });
    let worker = await serveDurable([made()], restate);
    const port = Number(new URL(worker.url).port);
    return {
      session: made().client(restate).session(),
      replace: async () => {
        await worker.close();
        worker = await serveDurable([made()], { ...restate, port });
      },
      close: () => worker.close(),
    };
  }

  const answer = { type: "allow", scope: "once", answer: ["the blue one"] } as const;
  const told = 'They said ["the blue one"]';

  it("is put down when nobody answers, and taken up again by the answer", async () => {
    const { session, close } = await asked(300);
    const turn = session.ask("Which one?");
    const id = await eventually(async () => (await session.pendingApprovals())[0]);
    await eventually(async () => {
      const query = `SELECT status FROM sys_invocation WHERE target_service_key = '${session.sessionId}' AND target_handler_name = 'turn'`;
      const response = await fetch(`${restate.admin}/query`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify({ query }),
      });
      return (await response.text()).includes("suspended") || undefined;
    });
    await session.approve(id, answer);
    expect((await turn).text).toBe(told);
    await close();
  });

  it("outlives its worker", async () => {
    const { session, replace, close } = await asked();
    const turn = session.ask("Which one?");
    const id = await eventually(async () => (await session.pendingApprovals())[0]);
    await replace();
    await session.approve(id, answer);
    expect((await turn).text).toBe(told);
    await close();
  });

  it("outlives Restate, as do turns that run and whoever waits for them", async () => {
    const { session, close } = await asked();
    const gate = new Gate();
    const held = durable({
      name: freeName(),
      agent: agentOf(byStep([["On ", { wait: gate }, "it."]]), await openStore()),
    });
    const holding = await serveDurable([held], restate);
    const running = held.client(restate).session().ask("Go on");
    await gate.reached;
    const turn = session.ask("Which one?");
    const id = await eventually(async () => (await session.pendingApprovals())[0]);
    await restate.restart();
    gate.open();
    expect((await running).text).toBe("On it.");
    await session.approve(id, answer);
    expect((await turn).text).toBe(told);
    await Promise.all([close(), holding.close()]);
  });
});
