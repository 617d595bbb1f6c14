import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NodeFileSystem } from "@shedkit/fs/node";
import { ProviderRouter } from "@shedkit/provider";
import { ToolShed } from "@shedkit/shed";
import { KvMemoryStore, SqlDocumentStore } from "@shedkit/store";
import { LibsqlStorage } from "@shedkit/store-libsql";
import { ScriptedProvider } from "@shedkit/testing";
import { FnTool, ToolCallResult, type ToolImpl, toolFn } from "@shedkit/tool";
import { filesTools } from "@shedkit/tools-files";
import { describe, expect, expectTypeOf, it, onTestFinished } from "vitest";
import { AgentSession } from "../src/index.js";
import { generationError, transcript } from "./helpers.js";

const myTool = new FnTool("run_tests", "Runs the tests.", { type: "object", properties: {} }, async () => "1 failed");

const searchContext = toolFn("search_context", ({ context }): ToolImpl => {
  const schema = { type: "object", properties: { query: { type: "string" } }, required: ["query"] };
  const description = "Finds what was said earlier.";
  return {
    definition: () => ({
      type: "single",
      definition: { name: "search_context", category: "memory", description, arguments: schema },
    }),
    execute: async ({ query }) => {
      const hits = await context.search(String(query));
      return ToolCallResult.text(hits.map(({ content }) => content).join("\n"));
    },
  };
});

/** One run of the program: everything is opened, one prompt is worked on, everything is closed. */
async function program(folder: string, prompt: string, providers: readonly ScriptedProvider[]): Promise<string[]> {
  const seen: string[] = [];
  const db = await LibsqlStorage.open(`file:${join(folder, "agent.db")}`);
  const fs = new NodeFileSystem(folder);
  const router = providers.reduce((all, provider) => all.provider(provider), ProviderRouter.builder()).build();
  const agent = await AgentSession.builder(router)
    .withModel("claude-sonnet-4-6")
    .withFallbackModels(["gpt-4o"])
    .withSessionId("the-program")
    .withDocStore(new SqlDocumentStore(db))
    .withMemoryStore(new KvMemoryStore(db))
    .withSystemPrompt("You are a coding assistant.")
    .withToolshed(new ToolShed().tools(filesTools(fs)).tool(myTool).tools([searchContext]))
    .build();
  expectTypeOf(agent).toEqualTypeOf<AgentSession<SqlDocumentStore<LibsqlStorage>, KvMemoryStore<LibsqlStorage>>>();
  expect(agent.docStore.storage).toBe(agent.memoryStore.storage);
  for await (const event of agent.runTurnStream(prompt).events()) {
    if (event.type === "text") seen.push(event.delta);
    else if (event.type === "retract") seen.push("[retracted]");
    else if (event.type === "toolCall") seen.push(`-> ${event.name}`);
    else if (event.type === "done") seen.push(`${event.summary.usage.total} tokens`);
  }
  await agent.end();
  await agent.docStore.close();
  await db.close();
  return seen;
}

describe("a program that keeps its sessions in a database", () => {
  it("works with tools, falls back to another model, and goes on after a restart", async () => {
    const folder = await mkdtemp(join(tmpdir(), "shedkit-persistent-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, "sum.js"), "return a - b;\n");
    const claude = new ScriptedProvider(
      [
        { call: "shed", arguments: { description: "run the tests, read and edit a file" } },
        [{ call: "run_tests" }, { call: "read", arguments: { path: "sum.js" } }],
        ["It is ", { fail: generationError("server") }],
      ],
      { id: "anthropic", models: ["claude-sonnet-4-6"], chunkSize: 100 },
    );
    const gpt = new ScriptedProvider(
      [
        { call: "edit", arguments: { path: "sum.js", old_string: "a - b", new_string: "a + b" } },
        { parts: ["Fixed."], usage: { input: 7, output: 1 } },
      ],
      { id: "openai-chat", models: ["gpt-4o"], chunkSize: 100 },
    );
    const first = await program(folder, "Fix the failing test", [claude, gpt]);
    expect(first).toEqual([
      ...["-> shed", "-> run_tests", "-> read", "It is ", "[retracted]", "-> edit", "Fixed."],
      expect.stringMatching(/^\d+ tokens$/),
    ]);
    expect(await readFile(join(folder, "sum.js"), "utf8")).toBe("return a + b;\n");

    const script = [
      { call: "shed", arguments: { description: "search_context" } },
      { call: "search_context", arguments: { query: "failing test" } },
      "It was the sum.",
    ];
    const again = new ScriptedProvider(script, { id: "openai-chat", models: ["gpt-4o"], chunkSize: 100 });
    const other = new ScriptedProvider([], { id: "anthropic", models: ["claude-sonnet-4-6"] });
    const second = await program(folder, "What was it?", [other, again]);
    expect(second).toEqual(["-> shed", "-> search_context", "It was the sum.", expect.stringMatching(/^\d+ tokens$/)]);
    const [resumed, , last] = again.requests;
    expect(transcript(resumed?.messages ?? []).at(0)).toBe("user: Fix the failing test");
    expect(transcript(resumed?.messages ?? []).slice(-2)).toEqual(["text: Fixed.", "user: What was it?"]);
    expect(resumed?.system).toBe("You are a coding assistant.");
    expect(resumed?.tools.activations.map(({ name }) => name)).toContain("edit"); // as before the restart
    expect(transcript(last?.messages ?? []).at(-1)).toContain("Fix the failing test");
  });
});
