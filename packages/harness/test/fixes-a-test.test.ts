import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentSession } from "@shedkit/agent";
import { NodeFileSystem } from "@shedkit/fs/node";
import { type ModelProvider, ProviderRouter, Secret } from "@shedkit/provider";
import { AnthropicMessagesProvider } from "@shedkit/provider-anthropic";
import { OpenAIProvider } from "@shedkit/provider-openai-chat";
import { ResponsesProvider } from "@shedkit/provider-openai-responses";
import { ToolShed } from "@shedkit/shed";
import {
  type ReceivedRequest,
  type ScriptedPart,
  ScriptedProvider,
  ScriptedServer,
  type WireName,
} from "@shedkit/testing";
import { CHATML, ChatTemplate, callableTools, familyOf } from "@shedkit/text-tools";
import { describe, expect, it, onTestFinished } from "vitest";
import { ToolPreset } from "../src/index.js";
import { nextStep, type Told } from "./support/fixer.js";

const FILES = {
  "total.test.mjs": `import assert from "node:assert/strict";\nimport { total } from "./lib/total.mjs";\n\nassert.equal(total([1, 2, 4]), 7);\n`,
  "lib/total.mjs": `/** The sum of some numbers. */\nexport function total(numbers) {\n  return numbers.reduce((a, b) => a + b, 0);\n}\n`,
  "lib/mean.mjs": `export const mean = (numbers) => numbers.length;\n`,
};

async function tempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "shedkit-fixes-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Lets an agent on a model mend the repository: what it called, and what it said in the end. */
async function fix(provider: ModelProvider, model: string) {
  const folder = await tempFolder();
  await mkdir(join(folder, "lib"));
  for (const [path, text] of Object.entries(FILES)) await writeFile(join(folder, path), text.replace("a + b", "a / b"));
  const fs = new NodeFileSystem(folder);
  const agent = await AgentSession.builder(ProviderRouter.builder().provider(provider).build())
    .withModel(model)
    .withToolshed(
      new ToolShed()
        .tools(ToolPreset.files(fs))
        .tools(ToolPreset.searchFiles(fs))
        .tools(ToolPreset.shell({ cwd: folder })),
    )
    .build();
  const calls: string[] = [];
  let said = "";
  for await (const event of agent.runTurnStream("The test fails. Mend it.").events()) {
    if (event.type === "toolCall") calls.push(event.name);
    else if (event.type === "text") said += event.delta;
    else if (event.type === "failed") throw event.error;
  }
  await agent.end();
  return { calls, said, source: await readFile(join(folder, "lib/total.mjs"), "utf8") };
}

const FIXED = {
  // The first change does not help.
  calls: "shed bash bash read search_file read edit bash edit bash".split(" "),
  said: "The test passes now.",
  source: FILES["lib/total.mjs"],
};

/** What tools told, out of the body of a request, in the form of its wire. */
const TOLD: { [wire in WireName]: (body: ReceivedRequest["body"]) => Told[] } = {
  anthropic: ({ messages }) => {
    const blocks = (messages as { content: unknown }[]).flatMap(({ content }) =>
      Array.isArray(content) ? content : [],
    );
    return pairs(
      blocks.filter(({ type }) => type === "tool_use").map(({ id, name }) => [id, name]),
      blocks.filter(({ type }) => type === "tool_result").map((block) => [block.tool_use_id, textOf(block.content)]),
    );
  },
  "openai-chat": ({ messages }) => {
    const all = messages as {
      role: string;
      content: unknown;
      tool_call_id: string;
      tool_calls?: { id: string; function: { name: string } }[];
    }[];
    return pairs(
      all.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => [call.id, call.function.name] as const)),
      all.filter(({ role }) => role === "tool").map((message) => [message.tool_call_id, textOf(message.content)]),
    );
  },
  "openai-responses": ({ input }) => {
    const all = input as { type: string; call_id: string; name: string; output: unknown }[];
    return pairs(
      all.filter(({ type }) => type === "function_call").map(({ call_id, name }) => [call_id, name]),
      all.filter(({ type }) => type === "function_call_output").map(({ call_id, output }) => [call_id, textOf(output)]),
    );
  },
};

function pairs(calls: readonly (readonly [string, string])[], results: readonly (readonly [string, string])[]): Told[] {
  const names = new Map(calls);
  return results.map(([id, text]) => ({ tool: names.get(id) ?? "?", text }));
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content);
  return content.map((part: { text?: string; tool_name?: string }) => part.text ?? part.tool_name ?? "").join("\n");
}

describe("an agent with the tools for files, searching and the shell", () => {
  // Everything that goes to the clouds goes to the server of the test.
  const config = (url: string) => ({
    apiKey: new Secret("key"),
    maxRetries: 3, // a connection that lay idle may be closed just as it is used again
    fetch: ((input, init) => {
      const { pathname, search } = new URL(input instanceof Request ? input.url : input);
      return fetch(new URL(`${pathname}${search}`, url), init);
    }) as typeof fetch,
  });
  it.each([
    ["anthropic", "claude-sonnet-4-6", (url: string) => AnthropicMessagesProvider.withConfig(config(url))],
    ["openai-chat", "gpt-4o", (url: string) => OpenAIProvider.withConfig(config(url))],
    ["openai-responses", "gpt-4o", (url: string) => ResponsesProvider.withConfig(config(url))],
  ] as const)(
    "mends a failing test over %s",
    async (wire, model, provider) => {
      const server = await ScriptedServer.start(({ body }) => nextStep(TOLD[wire](body)), { chunkSize: 100 });
      onTestFinished(() => server.close());
      expect(await fix(provider(server.url), model)).toEqual(FIXED);
    },
    120_000,
  );

  it("mends a failing test on a model that reads and writes plain text", async () => {
    const family = familyOf(new ChatTemplate(CHATML));
    const provider = new ScriptedProvider(({ messages, tools, system }) => {
      const prompt = family.render({ system, messages, tools }, new ChatTemplate(CHATML));
      const step = nextStep(toldInText(prompt));
      const answer =
        typeof step === "string"
          ? step
          : `<tool_call>\n${JSON.stringify({ name: step.call, arguments: step.arguments })}\n</tool_call>`;
      const parser = family.parser({ prompt, tools: callableTools(tools) });
      const events = [...chunked(answer).flatMap((piece) => parser.push(piece)), ...parser.end()];
      return events.flatMap((event): ScriptedPart[] => {
        if (event.type === "text") return [event.text];
        return event.type === "call" ? [{ call: event.name, arguments: event.arguments }] : [];
      });
    });
    expect(await fix(provider, "local")).toEqual(FIXED);
  }, 120_000);
});

/** What tools told, out of a prompt as a local model gets it. */
function toldInText(prompt: string): Told[] {
  const last = prompt.slice(prompt.lastIndexOf("Mend it."));
  const names = [...last.matchAll(/<tool_call>\s*\{"name": ?"(\w+)"/g)].map(([, name = ""]) => name);
  const texts = [...last.matchAll(/<tool_response>\n([\s\S]*?)\n<\/tool_response>/g)].map(([, text = ""]) => text);
  return texts.map((text, i) => ({ tool: names[i] ?? "?", text }));
}

function chunked(text: string): string[] {
  return text.match(/[\s\S]{1,7}/g) ?? [];
}
