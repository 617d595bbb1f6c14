import { AgentSession } from "@shedkit/agent";
import { type ModelProvider, Secret } from "@shedkit/provider";
import { AnthropicMessagesProvider } from "@shedkit/provider-anthropic";
import { OpenAIProvider } from "@shedkit/provider-openai-chat";
import { ResponsesProvider } from "@shedkit/provider-openai-responses";
import { ToolShed } from "@shedkit/shed";
import { type ScriptedAnswer, ScriptedProvider, ScriptedServer } from "@shedkit/testing";
import { capabilitiesFor, ToolCallResult, type ToolImpl } from "@shedkit/tool";
import { describe, expect, it, onTestFinished } from "vitest";

const cloud = { openai: OpenAIProvider, responses: ResponsesProvider, anthropic: AnthropicMessagesProvider };
const apiKey = new Secret("sk-test-0123456789");

const backends: [string, (answers: readonly ScriptedAnswer[]) => Promise<ModelProvider>][] = [
  ["a scripted provider", async (answers) => new ScriptedProvider(answers)],
  ...Object.entries(cloud).map(([name, Provider]): (typeof backends)[number] => [
    name,
    async (answers) => {
      const server = await ScriptedServer.start(answers);
      onTestFinished(() => server.close());
      const baseUrl = name === "anthropic" ? server.url : `${server.url}/v1`;
      return Provider.withConfig({ apiKey, baseUrl, maxRetries: 0 });
    },
  ]),
];

/** Changes nothing, and notes what it gets. */
function noting(got: string[]): ToolImpl {
  const schema = {
    type: "object",
    properties: { x: { type: "string" } },
    required: ["x"],
    additionalProperties: false,
  };
  return {
    definition: () => ({
      type: "single",
      definition: { name: "note", category: "test", description: "Notes something.", arguments: schema },
    }),
    execute: async (args) => {
      got.push(JSON.stringify(args));
      return ToolCallResult.text("noted");
    },
    metadata: {
      id: "note",
      namespace: "test",
      kind: "read",
      capabilities: capabilitiesFor("read", { readOnly: true }),
    },
  };
}

describe.each(backends)("a batch that the model orders by _after, on %s", (_, open) => {
  it("runs in that order, whatever form the arguments have, and no tool sees it", async () => {
    const got: string[] = [];
    const provider = await open([
      [
        { call: "note", arguments: { x: "a", _after: [2] } },
        { call: "note", raw: '{"x": 12345678901234567890, "_after": [0]}' },
        { call: "note", arguments: { x: "c", _after: "none" } },
        { call: "note", arguments: { x: "d", _after: [9] } },
        { call: "note", raw: '{"x": "e", "_after": [1],}' },
      ],
      "Done.",
    ]);
    const shed = new ToolShed().tool(noting(got)).pin("note").ordering();
    const agent = await AgentSession.builder(provider).withModel("m").withToolshed(shed).build();
    expect((await agent.ask("Go.")).text).toBe("Done.");
    await agent.end();
    expect(got).toEqual(['{"x":"c"}', '{"x":"a"}', '{"x":"12345678901234567890"}', '{"x":"e"}']);
  });
});
