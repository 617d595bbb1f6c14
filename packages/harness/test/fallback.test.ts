import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NodeFileSystem } from "@shedkit/fs/node";
import { Secret } from "@shedkit/provider";
import { AnthropicMessagesProvider } from "@shedkit/provider-anthropic";
import { OpenAIProvider } from "@shedkit/provider-openai-chat";
import { ToolShed } from "@shedkit/shed";
import { FakeHub, ScriptedServer, type ServerScript, tinyGguf } from "@shedkit/testing";
import { AgenticError } from "@shedkit/types";
import { describe, expect, it, onTestFinished } from "vitest";
import { ggufProvider, HuggingFaceGgufConfig, RouterMix, ToolPreset } from "../src/index.js";

const apiKey = new Secret("sk-test-0123456789");
const busy = { status: 529, error: { code: "overloaded_error", message: "Overloaded" } };

async function serve(script: ServerScript) {
  const server = await ScriptedServer.start(script);
  onTestFinished(() => server.close());
  return {
    server,
    claude: AnthropicMessagesProvider.withConfig({ apiKey, baseUrl: server.url, maxRetries: 0 }),
    openai: OpenAIProvider.withConfig({ apiKey, baseUrl: `${server.url}/v1`, maxRetries: 0 }),
  };
}

function folder(files: { [name: string]: string | Uint8Array }): string {
  const root = mkdtempSync(join(tmpdir(), "fallback-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(root, name), content);
  return root;
}

const call = (name: string, args: object) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
const local = () => ggufProvider(HuggingFaceGgufConfig.onCpu({ threads: 1 }));

describe("a fallback", () => {
  it("from the cloud to a local model takes the conversation and the tools that were found along", async () => {
    // What the local model says with no tool result before it, with one, with two ... it comes in at two.
    const steps = ["unused", "unused too", call("read", { path: "b.txt" }), "They say one and two."];
    const root = folder({ "a.txt": "one\n", "b.txt": "two\n", "m.gguf": tinyGguf({ steps, contextLength: 16_384 }) });
    let requests = 0;
    const { server, claude } = await serve(() => {
      requests++;
      if (requests === 1) return [{ call: "shed", arguments: { description: "read a file" } }];
      return requests === 2 ? [{ call: "read", arguments: { path: "a.txt" } }] : busy;
    });
    const agent = await new RouterMix()
      .primary(claude, "claude-sonnet-4-6")
      .fallback(local, join(root, "m.gguf"))
      .build()
      .intoAgentBuilder()
      .withToolshed(new ToolShed().tools(ToolPreset.files(new NodeFileSystem(root))))
      .build();
    const turn = await agent.runTurn("What do a.txt and b.txt say?");
    await agent.end();
    expect(turn.failure).toBeUndefined();
    expect(turn.text).toBe("They say one and two.");
    expect(server.requests.length).toBeGreaterThanOrEqual(3);
    const read = turn.records.flatMap((record) =>
      record.type === "conversation" && record.message.type === "toolResult" ? [JSON.stringify(record.message)] : [],
    );
    expect(read.at(-1)).toContain("two");
  });

  it("from a local model that is not there to the cloud", async () => {
    const { server, claude } = await serve(() => "From the cloud.");
    const agent = await new RouterMix()
      .primary(local, join(folder({}), "absent.gguf"))
      .fallback(claude, "claude-sonnet-4-6")
      .build()
      .intoAgentBuilder()
      .build();
    const answer = await agent.ask("Hi");
    await agent.end();
    expect(answer.text).toBe("From the cloud.");
    expect(server.requests).toHaveLength(1);
  });

  it("from a local model whose hub cannot be reached to the cloud", async () => {
    const hub = await FakeHub.start();
    await hub.close(); // nobody answers there any more
    const { claude } = await serve(() => "From the cloud.");
    const cacheDir = folder({});
    const agent = await new RouterMix()
      .primary(() => ggufProvider({ cacheDir, hub: { endpoint: hub.url } }), "acme/model-GGUF")
      .fallback(claude, "claude-sonnet-4-6")
      .build()
      .intoAgentBuilder()
      .build();
    const answer = await agent.ask("Hi");
    await agent.end();
    expect(answer.text).toBe("From the cloud.");
  });

  it("from a half-streamed answer says that it is retracted", async () => {
    const overloaded = new AgenticError("generation", "busy", { kind: "overloaded", provider: "", model: "" });
    const { claude, openai } = await serve((request) =>
      request.wire === "anthropic" ? ["Half of ", { fail: overloaded }] : "All of it.",
    );
    const agent = await new RouterMix()
      .primary(claude, "claude-sonnet-4-6")
      .fallback(openai, "gpt-4o")
      .build()
      .intoAgentBuilder()
      .build();
    const types: string[] = [];
    for await (const event of agent.runTurnStream("Go.").events()) types.push(event.type);
    await agent.end();
    expect(types).toContain("retract");
    expect(types.indexOf("retract")).toBeLessThan(types.lastIndexOf("text"));
    expect(types.at(-1)).toBe("done");
  });
});

describe("the parameters of a mix", () => {
  it("hold for the model that they are given with, over the session's own", async () => {
    const { server, claude, openai } = await serve((request) => (request.wire === "anthropic" ? busy : "Yes."));
    const agent = await new RouterMix()
      .primary(claude, "claude-sonnet-4-6", { params: { maxTokens: 11 } })
      .fallback(openai, "m", { params: { temperature: 0.25, maxTokens: undefined } })
      .build()
      .intoAgentBuilder()
      .withConfig({ modelParams: { temperature: 1, maxTokens: 500 } })
      .build();
    expect((await agent.ask("Hi")).text).toBe("Yes.");
    await agent.end();
    expect(server.requests[0]?.body).toMatchObject({ max_tokens: 11, temperature: 1 });
    expect(server.requests.at(-1)?.body).toMatchObject({ max_tokens: 500, temperature: 0.25 });
  });

  it("hold for one of two models of one provider, which still counts, describes, embeds and closes", async () => {
    const { server, openai } = await serve((request) =>
      request.path.endsWith("/embeddings") ? { json: { data: [{ index: 0, embedding: [1] }] } } : "Yes.",
    );
    const router = await new RouterMix()
      .primary(openai, "large", { params: { seed: 7 } })
      .memory(openai, "small")
      .build()
      .load();
    const { provider } = router.route("large");
    expect(provider.id).toBe("openai");
    expect((await provider.describe?.({ name: "large" }))?.contextWindow).toBeGreaterThan(0);
    expect(await provider.embedder?.("e").embed(["x"])).toEqual([Float32Array.of(1)]);
    for (const name of ["large", "small"]) {
      const { model, provider } = router.route(name);
      const request = { model, messages: [], tools: { tools: [], activations: [] }, params: {} };
      for await (const event of provider.stream(request)) void event;
    }
    expect(server.requests.slice(-2).map(({ body }) => body.seed)).toEqual([7, undefined]);
    await router.close();
  });
});
