import { AgentSession } from "@shedkit/agent";
import { ToolShed } from "@shedkit/shed";
import { SqlDocumentStore } from "@shedkit/store";
import { PostgresStorage } from "@shedkit/store-postgres";
import { ScriptedProvider } from "@shedkit/testing";
import { ToolCallResult, type ToolImpl, toolFn } from "@shedkit/tool";
import { describe, expect, inject, it } from "vitest";
import { newSchema } from "../../store-postgres/test/support/schema.js";
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

  it("is refused at start: a store that the other workers do not share", async () => {
    const name = freeName();
    const one = durable({ name, agent: agentOf(byStep(["Hello."]), await openStore()) });
    const store = await openStore();
    const other = durable({ name, agent: agentOf(byStep(["Hello."]), store) });
    await served(one);
    await expect(served(other)).rejects.toMatchObject({ details: { reason: "store not shared" } });
    const session = one.client(restate()).session();
    expect((await session.ask("Hi")).text).toBe("Hello.");
    await served(other, { force: true }); // the sessions are said to be there: that of this one is not
    await expect(session.ask("Hi again")).rejects.toThrow("they do not share the store");
  });

  it("is refused at start: another definition under the name and version of a worker that runs", async () => {
    const name = freeName();
    const database = await newSchema();
    const store = async () => openStore(database);
    const tools = [toolOfKind("other")];
    const agent = async (version?: string) =>
      durable({ name, version, agent: agentOf(byStep(["One."]), await store()) });
    const changed = async (version?: string) =>
      durable({ name, version, agent: agentOf(byStep(["Two."]), await store(), tools).withSystemPrompt("Be kind.") });
    const first = await served(await agent());
    await served(await agent()); // the same on another worker
    await expect(served(await changed())).rejects.toThrow(
      `Two definitions have the name "${name}": a worker that runs now has another one, also with no version ` +
        "(another system prompt, tools).",
    );
    const client = (await agent()).client(restate());
    expect((await client.session().ask("Hi")).text).toBe("One.");
    await served(await changed("2")); // newer code beside it
    expect((await client.session().ask("Hi")).text).toBe("Two.");
    await expect(served(await agent("2"))).rejects.toMatchObject({ details: { reason: "two definitions" } });
    await expect(served(await agent("3"), { url: first.url })).rejects.toThrow(
      `Restate knows the address ${first.url} by code that has the version "" of it; this is "3"`,
    );
  });

  it("takes no offence at another definition of a worker that is gone", async () => {
    const name = freeName();
    const database = await newSchema();
    const storage = await PostgresStorage.open(database);
    const gone = durable({ name, agent: agentOf(byStep(["One."]), new SqlDocumentStore(storage)) });
    const worker = await serveDurable([gone], restate());
    await storage.close(); // as if it was killed: nothing is taken back
    const changed = durable({
      name,
      agent: agentOf(byStep(["Two."]), await openStore(database), [toolOfKind("other")]),
    });
    await served(changed);
    expect((await changed.client(restate()).session().ask("Hi")).text).toBe("Two.");
    await worker.close();
  });

  it("is refused at start: what only the session's own tools show", async () => {
    const store = await openStore();
    const made = toolFn("it", () => toolOfKind("execute"));
    const agent = AgentSession.builder(byStep([])).withModel("m").withDocStore(store);
    const local = durable({ name: freeName(), agent: agent.withToolshed(new ToolShed().tools([made])) });
    await expect(served(local)).rejects.toThrow('the tool "it" (kind "execute") works on the machine that runs it');
    const modelless = durable({ name: freeName(), agent: AgentSession.builder(byStep([])).withDocStore(store) });
    await expect(served(modelless)).rejects.toThrow("no model set");
    const guarded = agentOf(byStep(["Hello."]), store).withAccess({
      ...{
        canUseModel: async () => true,
        canUseTool: async () => true,
        canAccessSession: async (_, id) => id === "ours",
      },
      ...{ canSpend: async () => true, tokenBudget: async () => undefined, recordUsage: async () => {} },
    });
    const ofSome = await running(guarded);
    expect((await ofSome.client(restate()).session("ours").ask("Hi")).text).toBe("Hello.");
    await expect(ofSome.client(restate()).session("theirs").ask("Hi")).rejects.toThrow("may not use the session");
  });

  it("is refused at start: addresses that are none, or of something else", async () => {
    const agent = durable({ name: freeName(), agent: agentOf(byStep([]), await openStore()) });
    const { ingress, admin } = restate();
    await expect(serveDurable([agent], { ingress: "localhost:8080" })).rejects.toThrow(
      'The address of Restate\'s ingress is "localhost:8080". It must begin with http://',
    );
    await expect(serveDurable([agent], { ingress: admin })).rejects.toThrow("Restate cannot be reached");
    await expect(serveDurable([agent], { ingress, admin: ingress })).rejects.toThrow("its admin interface?");
    expect(() => agent.client({ ingress: "nowhere" })).toThrow('ingress is "nowhere"');
    await expect(
      agent
        .client({ ingress: `${ingress}/` })
        .session()
        .abort(),
    ).rejects.toThrow("knows no such agent");
  });

  it("is refused at start: a port that another has, unless both share it", async () => {
    const store = await openStore();
    const agent = () => durable({ name: freeName(), agent: agentOf(byStep(["Hello."]), store) });
    const port = Number(new URL((await served(agent())).url).port);
    await expect(served(agent(), { port })).rejects.toThrow(`Port ${port} of 127.0.0.1 cannot be listened on: another`);
    if (process.platform !== "linux") return;
    const name = freeName();
    const same = () => durable({ name, agent: agentOf(byStep(["Hello."]), store) });
    const shared = Number(new URL((await served(same(), { sharePort: true })).url).port);
    await served(same(), { sharePort: true, port: shared });
    expect((await same().client(restate()).session().ask("Hi")).text).toBe("Hello.");
  });

  it("is no end of attempts: whatever is away, turns wait for it", async () => {
    const agent = await running(agentOf(byStep([]), await openStore()));
    for (const name of [agent.name, `${agent.name}.inbox`, `${agent.name}.feed`]) {
      const { retry_policy } = (await (await fetch(`${restate().admin}/services/${name}`)).json()) as {
        retry_policy: { max_attempts: number };
      };
      expect(retry_policy.max_attempts).toBeGreaterThan(1_000_000_000);
    }
  });
});
