import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentSession } from "@shedkit/agent";
import { NodeFileSystem } from "@shedkit/fs/node";
import { ProviderRouter, Secret } from "@shedkit/provider";
import { AnthropicMessagesProvider } from "@shedkit/provider-anthropic";
import { OpenAIProvider } from "@shedkit/provider-openai-chat";
import { ToolShed } from "@shedkit/shed";
import { KvMemoryStore, SqlDocumentStore } from "@shedkit/store";
import { LibsqlStorage } from "@shedkit/store-libsql";
import { ScriptedServer, type ServerAnswer } from "@shedkit/testing";
import { FnTool } from "@shedkit/tool";
import { describe, expect, expectTypeOf, it, onTestFinished } from "vitest";
import { ToolPreset } from "../src/index.js";

const myTool = new FnTool("run_tests", "Runs the tests.", { type: "object", properties: {} }, async () => "1 failed");

/** The program that keeps its sessions in a database, once: what it shows. */
async function program(folder: string, url: string, prompt: string): Promise<string[]> {
  const shown: string[] = [];
  // Everything that goes to the clouds goes to the server of the test.
  const toServer: typeof fetch = (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    return fetch(new URL(`${pathname}${search}`, url), init);
  };
  const config = { apiKey: new Secret("key"), maxRetries: 0, fetch: toServer };
  const fs = new NodeFileSystem(folder);
  const id = "the-program";

  const db = await LibsqlStorage.open(`file:${join(folder, "agent.db")}`);
  const router = ProviderRouter.builder()
    .provider(AnthropicMessagesProvider.withConfig(config))
    .provider(OpenAIProvider.withConfig(config))
    .build();
  const agent = await AgentSession.builder(router)
    .withModel("claude-sonnet-4-6")
    .withFallbackModels(["gpt-4o"])
    .withSessionId(id)
    .withDocStore(new SqlDocumentStore(db))
    .withMemoryStore(new KvMemoryStore(db))
    .withSystemPrompt("You are a coding assistant.")
    .withToolshed(
      new ToolShed()
        .tools(ToolPreset.files(fs))
        .tools(ToolPreset.shell({ cwd: folder }))
        .tool(myTool)
        .tools(ToolPreset.searchContext()),
    )
    .build();
  expectTypeOf(agent).toEqualTypeOf<AgentSession<SqlDocumentStore<LibsqlStorage>, KvMemoryStore<LibsqlStorage>>>();
  for await (const event of agent.runTurnStream(prompt).events()) {
    if (event.type === "text") shown.push(event.delta);
    else if (event.type === "retract") shown.push("[retracted]");
    else if (event.type === "toolCall") shown.push(`-> ${event.name}`);
    else if (event.type === "done") shown.push(`${event.summary.usage.total} tokens`);
    else if (event.type === "failed") throw event.error;
  }
  await agent.end();
  await agent.docStore.close();
  await db.close();
  return shown;
}

describe("a program that keeps its sessions in a database", () => {
  it("works with presets of tools on cloud models, falls back to another, and goes on after a restart", async () => {
    const folder = await mkdtemp(join(tmpdir(), "shedkit-program-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, "sum.js"), "return a - b;\n");
    const edit = { path: "sum.js", old_string: "a - b", new_string: "a + b" };
    const error = { code: "api_error", message: "Something broke." };
    const broken: ServerAnswer = { status: 500, headers: { "retry-after": "0" }, error };
    const answers: { [wire: string]: ServerAnswer[] } = {
      anthropic: [
        { call: "shed", arguments: { description: "run tests, read and edit files, run commands", limit: 8 } },
        [{ call: "run_tests" }, { call: "read", arguments: { path: "sum.js" } }],
      ],
      "openai-chat": [
        { call: "edit", arguments: edit },
        { call: "bash", arguments: { command: "cat sum.js", description: "Looks" } },
        "Fixed.",
        { call: "shed", arguments: { description: "search_context" } },
        { call: "search_context", arguments: { query: "failing test" } },
        "It was the sum.",
      ],
    };
    const server = await ScriptedServer.start(
      // From then on the first model is broken: it is asked again, too, when the switch from it is a minute ago.
      ({ wire = "" }) => answers[wire]?.shift() ?? broken,
      { chunkSize: 100 },
    );
    onTestFinished(() => server.close());

    const first = await program(folder, server.url, "Fix the failing test");
    expect(first).toEqual([
      ...["-> shed", "-> run_tests", "-> read", "-> edit", "-> bash", "Fixed."],
      expect.stringMatching(/^[1-9]\d* tokens$/),
    ]);
    expect(await readFile(join(folder, "sum.js"), "utf8")).toBe("return a + b;\n");
    const tested = server.requests.at(-1)?.body;
    expect(JSON.stringify(tested)).toContain("return a + b;"); // what the shell saw

    const second = await program(folder, server.url, "What was it?");
    expect(second.filter((text) => !text.startsWith("-> "))).toEqual([
      "It was the sum.",
      expect.stringMatching(/^[1-9]\d* tokens$/),
    ]);
    const last = JSON.stringify(server.requests.at(-1)?.body);
    for (const text of ["You are a coding assistant.", "Fix the failing test", "1 failed", "What was it?"]) {
      expect(last).toContain(text);
    }
  }, 300_000);
});
