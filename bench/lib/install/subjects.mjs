// What is installed, bundled, loaded and compiled: for each the packages, the program, and how it writes a typed tool.
import { PUBLISHED } from "./folders.mjs";

const zodTool = (make) => (i, fields) => make(i, fields.map(([key, type]) => `${key}: ${zod(type)}`).join(", "));
const zod = (type) =>
  ({
    text: "z.string()",
    number: "z.number().optional()",
    flag: "z.boolean().optional()",
    list: "z.array(z.string())",
  })[type];
const piSchema = (type) => ({ text: "str()", number: "opt(num())", flag: "opt(bool())", list: "arr(str())" })[type];
const typebox = (type) =>
  ({
    text: "Type.String()",
    number: "Type.Optional(Type.Number())",
    flag: "Type.Optional(Type.Boolean())",
    list: "Type.Array(Type.String())",
  })[type];

/** Thirty tools, each with some arguments of its own. */
export const FIELDS = Array.from({ length: 30 }, (_, i) =>
  [
    ["path", "text"],
    ["limit", "number"],
    ["hidden", "flag"],
    ["names", "list"],
    ["title", "text"],
  ].slice(0, 2 + (i % 4)),
);

/**
 * `packages`: what a person installs. `program`: the least that answers a question through Anthropic (or, where a peer has none
 * of its own, OpenAI). `tool`: one of thirty typed tools. `use`: the program with them, for the compiler.
 * `optional`: with its optional dependencies. `full`: no part of `--quick`.
 */
export const SUBJECTS = {
  "@shedkit: files tools only": {
    ours: ["tools-files", "fs"],
    program: `import { NodeFileSystem } from "@shedkit/fs/node";
import { filesTools } from "@shedkit/tools-files";
export const tools = filesTools(new NodeFileSystem("."));`,
  },
  "@shedkit: an agent and a provider": {
    ours: ["agent", "provider-anthropic", "shed", "tool"],
    beside: ["@sinclair/typebox"],
    program: `import { AgentSession } from "@shedkit/agent";
import { AnthropicMessagesProvider } from "@shedkit/provider-anthropic";
export const session = () => AgentSession.builder(AnthropicMessagesProvider.fromEnv()).withModel("claude-sonnet-4-6").build();`,
    head: `import { ToolShed } from "@shedkit/shed";
import { defineTool } from "@shedkit/tool";
import { Type } from "@sinclair/typebox";`,
    tool: (i, fields) =>
      `export const tool${i} = defineTool({ id: "tool_${i}", kind: "read", description: "Does thing ${i}.", input: Type.Object({ ${fields.map(([key, type]) => `${key}: ${typebox(type)}`).join(", ")} }), run: async (input) => ({ done: input.path }) });`,
    use: (names) => `export const shed = new ToolShed().tools([${names}]);`,
  },
  "@shedkit: everything": {
    ours: PUBLISHED.map((name) => name.replace("@shedkit/", "")),
    program: [
      ...PUBLISHED.map((name, i) => `import * as p${i} from "${name}";`),
      `export const all = [${PUBLISHED.map((_, i) => `p${i}`).join(", ")}];`,
    ].join("\n"),
    full: true,
  },
  "pi-agent-core + pi-ai": {
    peers: ["@earendil-works/pi-agent-core", "@earendil-works/pi-ai"],
    program: `import { Agent } from "@earendil-works/pi-agent-core";
import { createModels } from "@earendil-works/pi-ai";
import { anthropicProvider } from "@earendil-works/pi-ai/providers/anthropic";
const models = createModels();
models.setProvider(anthropicProvider());
export const agent = () => new Agent({ initialState: { systemPrompt: "", model: models.getModel("anthropic", "claude-sonnet-4-6")! }, streamFn: models.streamSimple.bind(models) });`,
    head: `import type { AgentTool } from "@earendil-works/pi-agent-core";
import { arr, bool, num, obj, opt, str } from "@earendil-works/pi-schema";`,
    tool: (i, fields) =>
      `const parameters${i} = obj({ ${fields.map(([key, type]) => `${key}: ${piSchema(type)}`).join(", ")} });
export const tool${i}: AgentTool<typeof parameters${i}> = { name: "tool_${i}", label: "Tool ${i}", description: "Does thing ${i}.", parameters: parameters${i}, execute: async (_, input) => ({ content: [{ type: "text", text: input.path }], details: {} }) };`,
    use: (names) =>
      `export const withTools = () => new Agent({ initialState: { systemPrompt: "", tools: [${names}] }, streamFn: models.streamSimple.bind(models) });`,
  },
  "ai + @ai-sdk/anthropic": {
    peers: ["ai", "@ai-sdk/anthropic", "zod"],
    program: `import { anthropic } from "@ai-sdk/anthropic";
import { ToolLoopAgent } from "ai";
export const agent = () => new ToolLoopAgent({ model: anthropic("claude-sonnet-4-6") });`,
    head: `import { tool } from "ai";
import { z } from "zod";`,
    tool: zodTool(
      (i, shape) =>
        `export const tool${i} = tool({ description: "Does thing ${i}.", inputSchema: z.object({ ${shape} }), execute: async (input) => ({ done: input.path }) });`,
    ),
    use: (names) =>
      `export const withTools = new ToolLoopAgent({ model: anthropic("claude-sonnet-4-6"), tools: { ${names} } });`,
  },
  "@tanstack/ai + ai-anthropic": {
    peers: ["@tanstack/ai", "@tanstack/ai-anthropic", "zod"],
    program: `import { chat } from "@tanstack/ai";
import { anthropicText } from "@tanstack/ai-anthropic";
export const answer = (content: string) => chat({ adapter: anthropicText("claude-sonnet-4-6"), messages: [{ role: "user", content }] });`,
    head: `import { toolDefinition } from "@tanstack/ai";
import { z } from "zod";`,
    tool: zodTool(
      (i, shape) =>
        `export const tool${i} = toolDefinition({ name: "tool_${i}", description: "Does thing ${i}.", inputSchema: z.object({ ${shape} }) }).server(async (input) => ({ done: input.path }));`,
    ),
    use: (names) =>
      `export const withTools = chat({ adapter: anthropicText("claude-sonnet-4-6"), messages: [], tools: [${names}] });`,
  },
  "@openai/agents": {
    peers: ["@openai/agents", "zod"],
    optional: true, // it does not load without the MCP client that it names as optional
    program: `import { Agent, run } from "@openai/agents";
export const answer = (text: string) => run(new Agent({ name: "Assistant", instructions: "Be short." }), text);`,
    head: `import { tool } from "@openai/agents";
import { z } from "zod";`,
    // Strict schemas have no optional properties; theirs are nullable.
    tool: zodTool(
      (i, shape) =>
        `export const tool${i} = tool({ name: "tool_${i}", description: "Does thing ${i}.", parameters: z.object({ ${shape.replaceAll(".optional()", ".nullable()")} }), execute: async (input) => ({ done: input.path }) });`,
    ),
    use: (names) => `export const withTools = new Agent({ name: "Assistant", tools: [${names}] });`,
  },
  "langchain + @langchain/anthropic": {
    peers: ["langchain", "@langchain/core", "@langchain/langgraph", "@langchain/anthropic", "zod"],
    program: `import { ChatAnthropic } from "@langchain/anthropic";
import { createAgent } from "langchain";
export const agent = () => createAgent({ model: new ChatAnthropic({ model: "claude-sonnet-4-6" }) });`,
    head: `import { tool } from "langchain";
import { z } from "zod";`,
    tool: zodTool(
      (i, shape) =>
        `export const tool${i} = tool(async (input) => \`done \${input.path}\`, { name: "tool_${i}", description: "Does thing ${i}.", schema: z.object({ ${shape} }) });`,
    ),
    use: (names) =>
      `export const withTools = createAgent({ model: new ChatAnthropic({ model: "claude-sonnet-4-6" }), tools: [${names}] });`,
  },
  "@strands-agents/sdk": {
    strands: ["@strands-agents/sdk", "@anthropic-ai/sdk", "zod"],
    program: `import { Agent } from "@strands-agents/sdk";
import { AnthropicModel } from "@strands-agents/sdk/models/anthropic";
export const agent = () => new Agent({ model: new AnthropicModel({ modelId: "claude-sonnet-4-6" }) });`,
    head: `import { tool } from "@strands-agents/sdk";
import { z } from "zod";`,
    tool: zodTool(
      (i, shape) =>
        `export const tool${i} = tool({ name: "tool_${i}", description: "Does thing ${i}.", inputSchema: z.object({ ${shape} }), callback: (input) => \`done \${input.path}\` });`,
    ),
    use: (names) => `export const withTools = new Agent({ tools: [${names}] });`,
  },
  "@mastra/core": {
    peers: ["@mastra/core", "zod"],
    program: `import { Agent } from "@mastra/core/agent";
export const agent = () => new Agent({ id: "a", name: "a", instructions: "Be short.", model: "anthropic/claude-sonnet-4-6" });`,
    head: `import { createTool } from "@mastra/core/tools";
import { z } from "zod";`,
    tool: zodTool(
      (i, shape) =>
        `export const tool${i} = createTool({ id: "tool_${i}", description: "Does thing ${i}.", inputSchema: z.object({ ${shape} }), execute: async (input) => ({ done: input.path }) });`,
    ),
    use: (names) =>
      `export const withTools = new Agent({ id: "b", name: "b", instructions: "", model: "anthropic/claude-sonnet-4-6", tools: { ${names} } });`,
  },
  "the bare SDK of Anthropic": {
    peers: ["@anthropic-ai/sdk"],
    program: `import Anthropic from "@anthropic-ai/sdk";
export const client = () => new Anthropic();`,
  },
  // What stands beside packages of ours, as their READMEs say to install it.
  "node-llama-cpp for the CPU, on Linux": { beside: ["node-llama-cpp", "@node-llama-cpp/linux-x64"], full: true },
  "@huggingface/transformers": { beside: ["@huggingface/transformers"], full: true },
};
