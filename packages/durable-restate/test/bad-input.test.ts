import { AgentSession } from "@shedkit/agent";
import { ScriptedProvider } from "@shedkit/testing";
import { ToolCallResult, type ToolImpl } from "@shedkit/tool";
import { describe, expect, inject, it } from "vitest";
import { durable, serveDurable } from "../src/index.js";
import { agentOf, byStep, freeName, openStore, restate, running, served } from "./support/agent.js";

const there = inject("restate") !== undefined;
const nowhere = "http://127.0.0.1:1";

function toolOfKind(kind: string): ToolImpl {
  return {
    definition: () => ({
      type: "single",
      definition: { name: "it", category: "test", description: "", arguments: { type: "object", properties: {} } },
    }),
    metadata: {
      ...{ id: "it", namespace: "test", kind },
      capabilities: {
        ...{ readOnly: false, idempotent: false, destructive: false, scope: "write", timeoutMs: 1000 },
        touches: () => [],
      },
    },
    execute: async () => ToolCallResult.text(""),
  };
}

describe("a definition that cannot be carried", () => {
  it("is refused for a store of this process alone", () => {
    const agent = AgentSession.builder(new ScriptedProvider([])).withModel("m");
    expect(() => durable({ name: "a", agent })).toThrow("its log would lie in a MemoryDocumentStore");
  });
});

describe.skipIf(!there)("bad input", () => {
  it("is refused at definition, with the reason", async () => {
    const agent = agentOf(byStep([]), await openStore());
    expect(() => durable({ name: "a b", agent })).toThrow('the name "a b" is none');
    expect(() => durable({ name: "a", agent: agent.withSessionId("s") })).toThrow('of one session, "s"');
    const editing = agentOf(byStep([]), await openStore(), [toolOfKind("edit")]);
    expect(() => durable({ name: "a", agent: editing })).toThrow("works on the machine that runs it");
    expect(durable({ name: "a", agent: editing, workspace: { type: "volume" } }).name).toBe("a");
    expect(durable({ name: "a", agent: editing, workspace: { type: "worker", worker: "w1" } }).name).toBe("a.w1");
    const tasks = agentOf(byStep([]), await openStore(), [toolOfKind("monitor")]);
    expect(() => durable({ name: "a", agent: tasks, workspace: { type: "volume" } })).toThrow("runs in one process");
  });

  it("is refused at start: no server, one name twice", async () => {
    const agent = durable({ name: freeName(), agent: agentOf(byStep([]), await openStore()) });
    await expect(serveDurable([agent], { ingress: nowhere, admin: nowhere })).rejects.toThrow(
      "Restate cannot be reached at http://127.0.0.1:1",
    );
    await expect(serveDurable([agent, agent], restate())).rejects.toThrow("Two definitions have the name");
    await expect(agent.client({ ingress: nowhere }).session().ask("Hi")).rejects.toThrow("Restate cannot be reached");
  });

  it("is told to the client: an unknown agent, an unknown session, a prompt that is none, what cannot travel", async () => {
    const store = await openStore();
    const unserved = durable({ name: freeName(), agent: agentOf(byStep([]), store) });
    await expect(unserved.client(restate()).session().ask("Hi")).rejects.toThrow("Restate knows no such agent");
    const agent = await running(agentOf(byStep(["Hello."]), store));
    const client = agent.client(restate());
    await expect(client.resume("nobody")).rejects.toMatchObject({ code: "sessionNotFound" });
    await expect(client.session().ask(" ")).rejects.toThrow("The prompt is empty");
    const metadata = { callback: () => undefined } as never;
    await expect(client.session().ask("Hi", { metadata })).rejects.toThrow("options.metadata.callback is a function");
  });

  it("is a worker whose store is another one", async () => {
    const name = freeName();
    const one = durable({ name, agent: agentOf(byStep(["Hello."]), await openStore()) });
    const other = durable({ name, agent: agentOf(byStep(["Hello."]), await openStore()) });
    await served(one);
    const session = one.client(restate()).session();
    await session.ask("Hi");
    await served(other); // from now on
    await expect(session.ask("Hi again")).rejects.toThrow("they do not share the store");
  });
});
