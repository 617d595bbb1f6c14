import { ProviderRouter } from "@shedkit/provider";
import { ToolShed } from "@shedkit/shed";
import { KvMemoryStore, MemoryDocumentStore, MemoryStorage } from "@shedkit/store";
import { ScriptedProvider } from "@shedkit/testing";
import { FnTool, toolFn } from "@shedkit/tool";
import { AgenticError, type Embedder, Messages } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { AgentSession } from "../src/index.js";
import { echoTool, generationError, transcript } from "./helpers.js";

describe("what must not go wrong again", () => {
  it("no part of a session works on other stores than those handed in", async () => {
    const docStore = new MemoryDocumentStore();
    const memoryStore = new KvMemoryStore(new MemoryStorage());
    const script = [{ call: "note" }, "Noted.", { parts: ["More."], usage: { input: 40_000 } }, '["It was noted."]'];
    const note = toolFn("note", ({ memory, context }) => {
      const empty = { type: "object", properties: {} };
      return new FnTool("note", "Notes.", empty, async () => {
        await memory.edit(() => ["a fact"]);
        return JSON.stringify(await context.search("something to find"));
      });
    });
    const session = await AgentSession.builder(new ScriptedProvider(script))
      .withModel("m")
      .withToolshed(new ToolShed().tool(note).pin("note"))
      .withDocStore(docStore)
      .withMemoryStore(memoryStore)
      .build();
    const turn = await session.runTurn("something to find");
    expect(JSON.stringify(turn.toolResults())).toContain("something to find"); // recall reads the same log
    await session.ask("And?");
    await session.settled();
    const types = [];
    for await (const { record } of docStore.read(session.sessionId)) types.push(record.type);
    expect(types).toEqual(expect.arrayContaining(["conversation", "workingMemory", "observation", "summary"]));
    const tiers = await memoryStore.read(session.sessionId);
    expect(tiers.working?.facts).toEqual(["a fact"]);
    expect(tiers.observation?.observations).toEqual([{ content: "It was noted." }]);
  });

  it("a tool given in the one place there is for tools passes every check, and can be called", async () => {
    const provider = new ScriptedProvider([{ call: "echo", arguments: { text: "a" } }, "It says a."]);
    const session = await AgentSession.builder(provider)
      .withModel("m")
      .withToolshed(new ToolShed().tool(echoTool()).pin("echo"))
      .build();
    expect((await session.runTurn("Hi")).toolResults()).toMatchObject([
      { name: "echo", content: [{ text: "echo: a" }] },
    ]);
  });

  it("a text is a message, and a message need say nothing but its text", async () => {
    const provider = new ScriptedProvider(["One.", "Two."]);
    const session = await AgentSession.builder(provider).withModel("m").build();
    await session.ask("Hi");
    await session.ask(Messages.user("Hi"));
    const [first, second] = provider.requests.map(({ messages }) => messages.at(-1));
    expect(second).toEqual({ ...first, id: expect.any(String) });
  });

  it("the text of an answer is one property away, and nobody has to take back what was withdrawn", async () => {
    const provider = new ScriptedProvider(({ model }) =>
      model.name === "m" ? ["Half an ans", { fail: generationError("server") }] : "The answer.",
    );
    const session = await AgentSession.builder(provider).withModel("m").withFallbackModels(["other"]).build();
    expect((await session.ask("Hi")).text).toBe("The answer.");
    const other = await AgentSession.builder(provider).withModel("m").withFallbackModels(["other"]).build();
    expect((await other.runTurn("Hi")).text).toBe("The answer.");
    const third = await AgentSession.builder(provider).withModel("m").withFallbackModels(["other"]).build();
    const texts = [];
    for await (const text of third.runTurnStream("Hi").text()) texts.push(text);
    expect(texts).toContain("");
    expect(texts.at(-1)).toBe("The answer.");
  });

  it("fallbacks and the memory model of a preset are used, unless the builder names others", async () => {
    const build = (change: (b: ReturnType<typeof AgentSession.builder>) => ReturnType<typeof AgentSession.builder>) => {
      const provider = new ScriptedProvider((request) =>
        request.model.name === "first" ? [{ fail: generationError("server") }] : "Answered.",
      );
      const preset = {
        models: { primary: "first", fallbacks: ["second"], memory: "small" },
        load: async () => ProviderRouter.single(provider),
      };
      return { provider, session: change(AgentSession.builder(preset)).build() };
    };
    const own = build((builder) => builder);
    await (await own.session).ask("Hi");
    expect(own.provider.requests.map((request) => request.model.name)).toEqual(["first", "second"]);
    await (await own.session).ask(`More ${"words ".repeat(500)}`);
    await (await own.session).compact();
    expect(own.provider.requests.at(-1)?.model.name).toBe("small");
    const other = build((builder) => builder.withFallbackModels(["third"]).withMemoryModel("tiny"));
    await (await other.session).ask(`Hi ${"words ".repeat(500)}`);
    await (await other.session).compact();
    expect(other.provider.requests.map((request) => request.model.name)).toEqual(["first", "third", "tiny"]);
  });

  it("a resumed session has its prompt, tools, limits and checks, as a new one has", async () => {
    const provider = new ScriptedProvider(["One.", "Two."]);
    const builder = AgentSession.builder(provider)
      .withModel("m")
      .withSystemPrompt("Be kind.")
      .withToolshed(new ToolShed().tool(echoTool()).pin("echo"))
      .withConfig({ modelParams: { temperature: 0.1 } });
    const session = await builder.build();
    await session.ask("1");
    await session.end();
    const again = await builder.resume(session.sessionId).build();
    await again.ask("2");
    const [first, second] = provider.requests;
    expect(second).toMatchObject({ system: first?.system, tools: first?.tools, params: first?.params });
    await again.end();
    await expect(
      builder.resume(session.sessionId).withToolshed(new ToolShed().pin("gone")).build(),
    ).rejects.toMatchObject({ code: "toolShed" });
  });

  it("an embedder is used by `shed` and by recall alike", async () => {
    const asked: string[] = [];
    const embedder: Embedder = {
      id: "test",
      embed: async (texts) => {
        asked.push(...texts);
        return texts.map((text) => Float32Array.from([/echo|repeat/i.test(text) ? 1 : 0, 0.1]));
      },
    };
    const provider = new ScriptedProvider([{ call: "shed", arguments: { description: "repeat my words" } }, "Found."]);
    const session = await AgentSession.builder(provider)
      .withModel("m")
      .withEmbedder(embedder)
      .withToolshed(new ToolShed().tool(echoTool()))
      .build();
    await session.ask("Hi");
    expect(asked).toContain("repeat my words");
    expect(transcript(provider.requests[1]?.messages ?? []).at(-1)).toContain("echo");
    await session.contextProvider.search("greeting");
    expect(asked).toContain("greeting");
  });

  it("every error is of one type, whatever part it comes from", async () => {
    const provider = new ScriptedProvider([]);
    const builder = AgentSession.builder(provider);
    const errors = await Promise.all([
      builder.build().catch((error: unknown) => error),
      builder
        .withModel("m")
        .resume("nowhere")
        .build()
        .catch((error: unknown) => error),
      builder
        .withModel("m")
        .withToolshed(new ToolShed().tool(echoTool()).tool(echoTool()))
        .build()
        .catch((error: unknown) => error),
      builder
        .withModel("m")
        .build()
        .then((session) => session.runTurn("Hi"))
        .then((turn) => turn.failure),
    ]);
    for (const error of errors) expect(AgenticError.is(error)).toBe(true);
    expect(errors.map((error) => AgenticError.is(error) && error.code)).toEqual([
      "session",
      "sessionNotFound",
      "toolShed",
      "generation",
    ]);
  });
});
