import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { AgentSession } from "@shedkit/agent";
import type { FileSystem } from "@shedkit/fs";
import { MemoryFileSystem } from "@shedkit/fs/memory";
import { NodeFileSystem } from "@shedkit/fs/node";
import { OverlayFileSystem } from "@shedkit/fs/overlay";
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
import { shellTools } from "@shedkit/tools-shell";
import { NodeTerminal } from "@shedkit/tools-shell/node";
import { type Message, textOfContent } from "@shedkit/types";
import { describe, expect, it, onTestFinished } from "vitest";
import { ToolPreset } from "../src/index.js";
import { nextStep, type Told } from "./support/fixer.js";
import { MirrorTerminal } from "./support/mirror-terminal.js";

/** A small repository whose test passes, and how it is broken. */
interface Repository {
  readonly files: { readonly [path: string]: string };
  readonly path: string;
  readonly broken: readonly [was: string, is: string];
}

const TOTAL: Repository = {
  files: {
    "total.test.mjs": `import assert from "node:assert/strict";\nimport { total } from "./lib/total.mjs";\n\nassert.equal(total([1, 2, 4]), 7);\n`,
    "lib/total.mjs": `/** The sum of some numbers. */\nexport function total(numbers) {\n  return numbers.reduce((a, b) => a + b, 0);\n}\n`,
    "lib/mean.mjs": `export const mean = (numbers) => numbers.length;\n`,
  },
  path: "lib/total.mjs",
  broken: ["a + b", "a / b"],
};

/** Another test, another place, another mistake: found by the same program. */
const VOLUME: Repository = {
  files: {
    "README.md": "# Shapes\n\nVolumes are products.\n",
    "box.test.mjs": `import assert from "node:assert/strict";\nimport { volume } from "./src/shapes/box.mjs";\n\nassert.equal(volume(2, 3), 18);\n`,
    "src/shapes/box.mjs": `export function volume(side, height) {\n  const base = side ** 2;\n  return base * height + 6;\n}\n`,
    "src/shapes/ball.mjs": `export function radius(ball) {\n  return ball.radius;\n}\n`,
  },
  path: "src/shapes/box.mjs",
  broken: ["base * height + 6", "base + height + 6"],
};

async function tempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "shedkit-fixes-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Where the repository is, and the agent's tools for it. */
interface Place {
  fs: FileSystem;
  shell: ToolPreset;
  /** What is there in the end, after the host has taken the changes over. */
  finish(path: string): Promise<string>;
}

async function onDisk(files: { [path: string]: string }): Promise<string> {
  const folder = await tempFolder();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

/** Commands of a file system that is not on the disk. */
async function mirrored(fs: FileSystem): Promise<ToolPreset> {
  const terminal = new NodeTerminal({ cwd: await tempFolder() });
  onTestFinished(() => terminal.dispose());
  return ToolPreset.fromConstructors(shellTools(new MirrorTerminal(fs, terminal)));
}

const PLACES = {
  "the disk": async (files: { [path: string]: string }): Promise<Place> => {
    const cwd = await onDisk(files);
    return {
      fs: new NodeFileSystem(cwd),
      shell: ToolPreset.shell({ cwd }),
      finish: (path) => readFile(join(cwd, path), "utf8"),
    };
  },
  memory: async (files: { [path: string]: string }): Promise<Place> => {
    const fs = new MemoryFileSystem(files);
    const finish = async (path: string) => new TextDecoder().decode(await fs.readFile(path));
    return { fs, shell: await mirrored(fs), finish };
  },
  "an overlay": async (files: { [path: string]: string }): Promise<Place> => {
    const cwd = await onDisk(files);
    const fs = new OverlayFileSystem(new NodeFileSystem(cwd));
    const finish = async (path: string) => {
      expect(await readFile(join(cwd, path), "utf8")).toBe(files[path]); // nothing was written so far
      expect((await fs.diff()).map((change) => change.path)).toEqual([path]);
      await fs.commit();
      return readFile(join(cwd, path), "utf8");
    };
    return { fs, shell: await mirrored(fs), finish };
  },
} satisfies { [name: string]: (files: { [path: string]: string }) => Promise<Place> };

/** Lets an agent on a model mend a repository: what it called, and what it said in the end. */
async function fix(
  provider: ModelProvider,
  model: string,
  { files, path, broken }: Repository,
  place: keyof typeof PLACES,
) {
  const [was, is] = broken;
  const spoilt = Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, name === path ? text.replace(was, is) : text]),
  );
  const { fs, shell, finish } = await PLACES[place](spoilt);
  const agent = await AgentSession.builder(ProviderRouter.builder().provider(provider).build())
    .withModel(model)
    .withToolshed(new ToolShed().tools(ToolPreset.files(fs)).tools(ToolPreset.searchFiles(fs)).tools(shell))
    .build();
  onTestFinished(() => agent.end());
  const calls: string[] = [];
  let said = "";
  for await (const event of agent.runTurnStream("The test fails. Mend it.").events()) {
    if (event.type === "toolCall") calls.push(event.name);
    else if (event.type === "text") said += event.delta;
    else if (event.type === "failed") throw event.error;
  }
  return { calls, said, source: await finish(path) };
}

const fixed = ({ files, path }: Repository) => ({
  // The first change does not help.
  calls: "shed bash bash read search_file read edit bash edit bash".split(" "),
  said: "The test passes now.",
  source: files[path],
});

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
      expect(await fix(provider(server.url), model, TOTAL, "the disk")).toEqual(fixed(TOTAL));
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
    expect(await fix(provider, "local", TOTAL, "the disk")).toEqual(fixed(TOTAL));
  }, 120_000);

  it.each(
    (Object.keys(PLACES) as (keyof typeof PLACES)[]).flatMap((place) => [
      ["total", place, TOTAL] as const,
      ["volume", place, VOLUME] as const,
    ]),
  )(
    "mends a failing test of %s in %s",
    async (_, place, repository) => {
      const provider = new ScriptedProvider(({ messages }) => {
        const step = nextStep(toldInMessages(messages));
        return typeof step === "string" ? step : { call: step.call, arguments: step.arguments };
      });
      expect(await fix(provider, "m", repository, place)).toEqual(fixed(repository));
    },
    120_000,
  );

  it("gives up where its tools tell it nothing", async () => {
    const nothing = { ...TOTAL, files: { "lib/total.mjs": TOTAL.files["lib/total.mjs"] as string } };
    const provider = new ScriptedProvider(({ messages }) => {
      const step = nextStep(toldInMessages(messages));
      return typeof step === "string" ? step : { call: step.call, arguments: step.arguments };
    });
    const { said, source } = await fix(provider, "m", nothing, "the disk");
    expect(said).toBe("There is no test.");
    expect(source).toContain("a / b");
  }, 120_000);
});

/** What tools told, out of messages. */
function toldInMessages(messages: readonly Message[]): Told[] {
  return messages.flatMap((message) =>
    message.type === "toolResult" ? [{ tool: message.name, text: textOfContent(message.content) }] : [],
  );
}

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
