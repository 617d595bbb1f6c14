import { type ModelPreset, ProviderRouter } from "@shedkit/provider";
import { ToolShed } from "@shedkit/shed";
import {
  type DocumentStore,
  KvMemoryStore,
  MemoryDocumentStore,
  MemoryStorage,
  type MemoryStore,
} from "@shedkit/store";
import { Gate, ScriptedProvider } from "@shedkit/testing";
import { ToolCallResult, toolFn } from "@shedkit/tool";
import { AgenticError } from "@shedkit/types";
import { describe, expect, expectTypeOf, it } from "vitest";
import { AgentSession, type AnyAgentSession } from "../src/index.js";
import { collect, echoTool, sessionOf, transcript } from "./helpers.js";

class OtherStore extends MemoryDocumentStore {
  readonly other = true;
}

describe("the builder", () => {
  it("needs a model", async () => {
    const building = AgentSession.builder(new ScriptedProvider([])).build();
    await expect(building).rejects.toMatchObject({ code: "session", details: { reason: "no model set" } });
    await expect(building).rejects.toThrow(/no model set/);
  });

  it("is immutable", async () => {
    const base = AgentSession.builder(new ScriptedProvider(["A", "B"]));
    const named = base.withModel("m");
    named.withSystemPrompt("Be kind.");
    await expect(base.build()).rejects.toThrow(/no model set/);
    const session = await named.build();
    await session.ask("Hi");
    expect(session.sessionId).not.toBe((await named.build()).sessionId);
  });

  it("refuses a model that no backend serves", async () => {
    const router = ProviderRouter.single(new ScriptedProvider([], { models: ["a"] }));
    await expect(AgentSession.builder(router).withModel("b").build()).rejects.toMatchObject({ code: "routing" });
  });

  it("sends the system prompt, the model and the parameters; a turn's own win", async () => {
    const provider = new ScriptedProvider(["A", "B"]);
    const session = await sessionOf(provider)
      .withSystemPrompt("Be kind.")
      .withConfig({ modelParams: { temperature: 0.1, maxTokens: 9 } })
      .build();
    await session.ask("Hi");
    await session.ask("Hi", { model: "n", params: { temperature: 0.9 } });
    expect(provider.requests[0]).toMatchObject({
      system: "Be kind.",
      model: { name: "m" },
      params: { temperature: 0.1, maxTokens: 9 },
      sessionId: session.sessionId,
    });
    expect(provider.requests[1]).toMatchObject({ model: { name: "n" }, params: { temperature: 0.9, maxTokens: 9 } });
  });

  it("uses the stores handed in, and says so in its type", async () => {
    const docStore = new OtherStore();
    const memoryStore = new KvMemoryStore(new MemoryStorage());
    const session = await sessionOf(new ScriptedProvider(["A"]))
      .withDocStore(docStore)
      .withMemoryStore(memoryStore)
      .build();
    expectTypeOf(session).toEqualTypeOf<AgentSession<OtherStore, KvMemoryStore<MemoryStorage>>>();
    expectTypeOf(session.docStore).toEqualTypeOf<OtherStore>();
    expectTypeOf(AgentSession.builder(new ScriptedProvider([])).build).returns.resolves.toEqualTypeOf<AgentSession>();
    expectTypeOf<AnyAgentSession>().toEqualTypeOf<AgentSession<DocumentStore, MemoryStore>>();
    expectTypeOf(session).toExtend<AnyAgentSession>();
    expectTypeOf(session.fork).returns.resolves.toEqualTypeOf<typeof session>();
    const any: AnyAgentSession = session;
    await any.ask("Hi");
    expect(session.docStore).toBe(docStore);
    expect(session.memoryStore).toBe(memoryStore);
    expect((await docStore.sessions()).items.map((info) => info.id)).toEqual([session.sessionId]);
  });

  it("gives tools that need it the session's own parts", async () => {
    let remembered: unknown;
    const shed = new ToolShed().tool(
      toolFn("remember", async (parts) => {
        await parts.memory.edit((facts) => [...facts, "the sky is blue"]);
        remembered = { facts: await parts.memory.facts(), id: parts.sessionId };
        return { definition: () => renamed("remember"), execute: async () => ToolCallResult.text("kept") };
      }),
    );
    const session = await AgentSession.builder(new ScriptedProvider([])).withModel("m").withToolshed(shed).build();
    expect(remembered).toEqual({ facts: ["the sky is blue"], id: session.sessionId });
    expect((await session.memoryStore.read(session.sessionId)).working?.facts).toEqual(["the sky is blue"]);
    const hits = await session.contextProvider.search("blue sky", { mode: "memory" });
    expect(hits[0]).toMatchObject({ source: "workingMemory", score: 1 });
  });

  it("gives up when its signal aborts, whatever it waits for, and lets go of the log", async () => {
    const gate = new Gate();
    const docStore = new MemoryDocumentStore();
    const slow = toolFn("slow", async () => {
      await gate.wait();
      return { definition: () => renamed("slow"), execute: async () => ToolCallResult.text("") };
    });
    const controller = new AbortController();
    const builder = sessionOf(new ScriptedProvider(["A"]))
      .withDocStore(docStore)
      .withSessionId("s1");
    const building = builder.withToolshed(new ToolShed().tool(slow)).build({ signal: controller.signal });
    await gate.reached;
    controller.abort();
    await expect(building).rejects.toMatchObject({ code: "cancelled" });
    expect((await (await builder.build()).ask("Hi")).text).toBe("A");
    gate.open();
  });

  it("lets go of the log when it cannot be built", async () => {
    const docStore = new MemoryDocumentStore();
    const shed = new ToolShed().tool(echoTool()).tool(echoTool());
    const builder = sessionOf(new ScriptedProvider(["A"]))
      .withDocStore(docStore)
      .withSessionId("s1");
    await expect(builder.withToolshed(shed).build()).rejects.toMatchObject({ code: "toolShed" });
    expect((await (await builder.build()).ask("Hi")).text).toBe("A");
  });
});

describe("a preset", () => {
  const preset = (load: (signal?: AbortSignal) => Promise<ProviderRouter>): ModelPreset => ({
    models: { primary: "small" },
    load,
  });

  it("is loaded at the first request, with its models, and closed by end", async () => {
    const provider = new ScriptedProvider(["A", "B"]);
    let loads = 0;
    const session = await AgentSession.builder(
      preset(async () => {
        loads++;
        return ProviderRouter.single(provider);
      }),
    ).build();
    expect(loads).toBe(0);
    await session.ask("Hi");
    await session.ask("Hi");
    expect(loads).toBe(1);
    expect(provider.requests[0]?.model.name).toBe("small");
    await session.end();
    expect(provider.closed).toBe(true);
  });

  it("that cannot be loaded fails the turn, and is tried again in the next", async () => {
    const error = new AgenticError("provider", "npm i @shedkit/provider-x", { install: "npm i @shedkit/provider-x" });
    let loads = 0;
    const session = await AgentSession.builder(
      preset(async () => {
        if (++loads === 1) throw error;
        return ProviderRouter.single(new ScriptedProvider(["A"]));
      }),
    ).build();
    expect((await session.runTurn("Hi")).failure).toBe(error);
    expect((await session.ask("Hi")).text).toBe("A");
  });

  it("goes on loading when the turn is aborted, at once, for the next one; the end of the session gives it up", async () => {
    const gate = new Gate();
    let given: AbortSignal | undefined;
    let loads = 0;
    const deaf = preset(async (signal) => {
      loads++;
      given = signal;
      await gate.wait();
      return ProviderRouter.single(new ScriptedProvider(["A"]));
    });
    const session = await AgentSession.builder(deaf).build();
    const running = session.runTurn("Hi");
    await gate.reached;
    session.abort();
    expect((await running).failure?.code).toBe("cancelled");
    gate.open();
    expect((await session.ask("Hi")).text).toBe("A");
    expect(loads).toBe(1);
    await session.end();
    expect(given?.aborted).toBe(true);
    const never = preset(() => new Promise(() => undefined));
    const other = await AgentSession.builder(never).build();
    const waiting = other.runTurn("Hi");
    await other.end();
    expect((await waiting).failure?.code).toBe("cancelled");
  });
});

describe("resuming", () => {
  it("continues the conversation with its active tools, and refuses an unknown id", async () => {
    const provider = new ScriptedProvider([{ call: "shed", arguments: { description: "echo" } }, "Found.", "Again."]);
    const builder = AgentSession.builder(provider).withModel("m").withToolshed(new ToolShed().tool(echoTool()));
    const session = await builder.build();
    await session.ask("Find it");
    await session.end();
    const again = await builder.resume(session.sessionId).build();
    await again.ask("Still there?");
    expect(provider.requests[2]?.tools.tools).toHaveLength(1);
    expect(transcript(provider.requests[2]?.messages ?? []).slice(-3)).toEqual([
      expect.stringContaining("shed ->"),
      "text: Found.",
      "user: Still there?",
    ]);
    await expect(builder.resume("nowhere").build()).rejects.toMatchObject({
      code: "sessionNotFound",
      details: { sessionId: "nowhere" },
    });
  });

  it("by withSessionId continues or begins", async () => {
    const provider = new ScriptedProvider(["A", "B"]);
    const builder = sessionOf(provider).withSessionId("mine");
    const session = await builder.build();
    await session.ask("1");
    await session.end();
    const again = await builder.build();
    await again.ask("2");
    expect(transcript(await collect(again.messages()))).toEqual(["user: 1", "text: A", "user: 2", "text: B"]);
  });

  it("of a session that is in use is refused, or waits as long as it is told to", async () => {
    const builder = sessionOf(new ScriptedProvider([])).withSessionId("mine");
    const session = await builder.build();
    await expect(builder.build()).rejects.toMatchObject({ code: "sessionBusy" });
    const waiting = builder.build({ waitMs: 10_000 });
    const controller = new AbortController();
    const leaving = builder.build({ waitMs: 10_000, signal: controller.signal });
    controller.abort();
    await expect(leaving).rejects.toThrow();
    await session.end();
    await (await waiting).end();
  });

  it("tells a store that cannot be reached from a session that is not there", async () => {
    const docStore = new MemoryDocumentStore();
    await docStore.close();
    const building = sessionOf(new ScriptedProvider([])).withDocStore(docStore).resume("mine").build();
    await expect(building).rejects.toMatchObject({ code: "store" });
  });

  it("refuses a log of a newer format by name", async () => {
    const docStore = new MemoryDocumentStore();
    const lease = await docStore.acquire("old" as never);
    await docStore.append(lease, [{ id: "1", v: 2, at: 0, type: "dequeued", messageId: "x" } as never]);
    await lease.release();
    const building = sessionOf(new ScriptedProvider([])).withDocStore(docStore).resume("old").build();
    await expect(building).rejects.toThrow(/format 2/);
  });
});

function renamed(name: string) {
  const definition = echoTool().definition();
  if (definition.type !== "single") throw new Error("single");
  return { ...definition, definition: { ...definition.definition, name } };
}
