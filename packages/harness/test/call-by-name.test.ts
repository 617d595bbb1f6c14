import { AgentSession } from "@shedkit/agent";
import { ProviderRouter } from "@shedkit/provider";
import { LlamaCppProvider } from "@shedkit/provider-llamacpp";
import { ToolShed } from "@shedkit/shed";
import { ScriptedServer, tinyChatTemplate } from "@shedkit/testing";
import { FnTool } from "@shedkit/tool";
import type { ToolArguments } from "@shedkit/types";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { demoModelPath } from "../../model-demo/src/index.js";
import { steerLlama } from "../../provider-llamacpp/test/steered-llama.js";
import { RouterPreset } from "../src/index.js";
import { signatureTemplate } from "./support/signature-template.js";

const zone = { type: "object", properties: { zone: { type: "string" } }, additionalProperties: false };
const clock = new FnTool("clock", "Says what time it is.", zone, async (args) => `noon in ${args.str("zone")}`);
const lamp = new FnTool("lamp", "Switches the light of a room on.", { type: "object" }, async () => "on");

/** What goes to a provider's public address goes to a scripted server. */
async function serve(answers: Parameters<typeof ScriptedServer.start>[0]): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(answers);
  const real = globalThis.fetch;
  vi.stubGlobal("fetch", (input: string | URL | Request, init?: RequestInit) =>
    real(String(input).replace(/^https:\/\/api\.(anthropic|openai)\.com/, server.url), init),
  );
  onTestFinished(async () => {
    vi.unstubAllGlobals();
    await server.close();
  });
  return server;
}

const use = (tool_name: string, tool_input: ToolArguments) => ({
  call: "use_tool",
  arguments: { tool_name, tool_input },
});
const shed = new ToolShed().tools([clock, lamp]);

describe.each(["claude", "openaiChat", "openaiResponses"] as const)(
  "tools called by name, over RouterPreset.%s",
  (wire) => {
    it("are found, asked leave for by their own names, and run; what is declared stays as it was", async () => {
      const server = await serve([
        [{ call: "shed", arguments: { description: "what time it is" } }],
        [use("clock", { zone: "UTC" })],
        "It is noon.",
        [{ call: "shed", arguments: { description: "light in a room" } }],
        [use("lamp", {}), use("clock", { zone: "CET" }), { call: "clock", arguments: { zone: "CET" } }],
        "Done.",
      ]);
      const asked: string[] = [];
      const agent = await RouterPreset[wire]("sk-given")
        .intoAgentBuilder()
        .withToolshed(shed.callByName())
        .withPermissions({
          async decide({ tool }) {
            asked.push(tool);
            return tool === "lamp" ? { deny: "It is bright enough." } : "allow";
          },
        })
        .build();
      expect((await agent.ask("What time is it?")).text).toBe("It is noon.");
      expect((await agent.ask("Switch on the light.")).text).toBe("Done.");
      await agent.end();
      expect(asked).toEqual(["clock", "lamp", "clock"]);

      const bodies = server.requests.map(
        ({ body }) => body as { tools: { name?: string; function?: { name: string } }[] },
      );
      expect(bodies).toHaveLength(6);
      expect(bodies[0]?.tools.map((tool) => tool.name ?? tool.function?.name)).toEqual(["shed", "use_tool"]);
      // To the byte: nothing that comes before the conversation changes.
      expect(new Set(bodies.map(({ tools }) => JSON.stringify(tools))).size).toBe(1);
      const last = JSON.stringify(bodies.at(-1));
      for (const said of ["noon in UTC", "noon in CET", "It is bright enough.", "It is called by use_tool"])
        expect(last).toContain(said);
      expect(JSON.stringify(bodies[1])).toContain("Call them by use_tool");
    });
  },
);

it("without it, what is found is declared: over Chat Completions the list changes", async () => {
  const server = await serve([
    [{ call: "shed", arguments: { description: "what time it is" } }],
    [{ call: "clock", arguments: { zone: "UTC" } }],
    "It is noon.",
  ]);
  const agent = await RouterPreset.openaiChat("sk-given").intoAgentBuilder().withToolshed(shed).build();
  await agent.ask("What time is it?");
  await agent.end();
  expect(new Set(server.requests.map(({ body }) => JSON.stringify(body.tools))).size).toBe(2);
});

describe.each([
  ["told of tools as its own template does", undefined, "use_tool(tool_name, tool_input)"],
  ["told their schemas", tinyChatTemplate, '"required": ["tool_name", "tool_input"]'],
  ["told their signatures", signatureTemplate, "use_tool tool_name tool_input"],
])("tools called by name, on a local model that is %s", (_, chatTemplate, told) => {
  it("are found, called with their arguments, and answer; the prompt goes on as it was", async () => {
    const prompts: string[] = [];
    // It knows of the tool what the last result says.
    steerLlama((prompt) => {
      prompts.push(prompt);
      const last = prompt.slice(prompt.lastIndexOf("<tool_response>"));
      const [, result = ""] = /^<tool_response>\n([\s\S]*?)\n<\/tool_response>/.exec(last) ?? [];
      const [, name] = /by use_tool: \{"tool_name": "(\w+)"/.exec(result) ?? [];
      if (name !== undefined) return called("use_tool", `{"tool_name": "${name}", "tool_input": {"zone": "UTC"}}`);
      return result.startsWith("noon") ? `It is ${result}.` : called("shed", '{"description": "what time it is"}');
    });
    const provider = new LlamaCppProvider({ backend: "cpu", threads: 1, contextLength: 4096, chatTemplate });
    onTestFinished(() => provider.close());
    const agent = await AgentSession.builder(ProviderRouter.builder().provider(provider).build())
      .withModel(demoModelPath)
      .withToolshed(shed.callByName())
      .build();
    onTestFinished(() => agent.end());
    expect((await agent.ask("What time is it?")).text).toBe("It is noon in UTC.");
    expect(prompts).toHaveLength(3);
    expect(prompts[0]).toContain(told);
    prompts.slice(1).forEach((prompt, i) => void expect(prompt.startsWith(prompts[i] as string)).toBe(true));
  }, 120_000);
});

function called(name: string, args: string): string {
  return `<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`;
}
