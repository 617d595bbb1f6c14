import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { isStepCount, jsonSchema, ToolLoopAgent, tool, toolSearch } from "ai";

export function aiModel({ wire, url, model = "m" }) {
  if (wire === "anthropic") return createAnthropic({ apiKey: "k", baseURL: `${url}/v1` })(model);
  const openai = createOpenAI({ apiKey: "k", baseURL: `${url}/v1` });
  return wire === "chat" ? openai.chat(model) : openai.responses(model);
}

/** `search`: their `toolSearch()`, with all tools deferred. */
export async function open({ wire, url, model, script, tools = [], steps = 20, system, search }) {
  const made = tools.map(({ name, description, parameters, run }) => [
    name,
    tool({
      description,
      inputSchema: jsonSchema(parameters),
      execute: async (args) => run(args),
      ...(search && { deferLoading: true }),
    }),
  ]);
  const agent = new ToolLoopAgent({
    model: script ? scripted(script) : aiModel({ wire, url, model }),
    tools: { ...(search && { search: toolSearch() }), ...Object.fromEntries(made) },
    stopWhen: isStepCount(steps + 1),
    maxRetries: 0,
    ...(system && { instructions: system }),
    // Anthropic caches where it is told to; their documentation's way to tell it for a whole request.
    ...(wire === "anthropic" && { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }),
  });
  return {
    async converse() {
      const messages = [];
      return {
        async ask(content) {
          messages.push({ role: "user", content });
          const result = await agent.stream({ messages });
          let text = "";
          for await (const part of result.stream) {
            if (part.type === "text-delta") text += part.text;
            else if (part.type === "error") throw part.error;
          }
          messages.push(...(await result.responseMessages));
          return text;
        },
        end: async () => {},
      };
    },
    close: async () => {},
  };
}

/** A language model of theirs that costs nearly nothing. */
export function scripted(script) {
  return {
    specificationVersion: "v4",
    provider: "scripted",
    modelId: "m",
    supportedUrls: {},
    async doGenerate() {
      throw new Error("It streams.");
    },
    async doStream({ prompt }) {
      const { text, calls } = script(prompt.length);
      const parts = [
        { type: "stream-start", warnings: [] },
        { type: "text-start", id: "0" },
        { type: "text-delta", id: "0", delta: text },
        { type: "text-end", id: "0" },
        ...calls.flatMap(({ id, name, args }) => [
          { type: "tool-input-start", id, toolName: name },
          { type: "tool-input-delta", id, delta: JSON.stringify(args) },
          { type: "tool-input-end", id },
          { type: "tool-call", toolCallId: id, toolName: name, input: JSON.stringify(args) },
        ]),
        {
          type: "finish",
          finishReason: { unified: calls.length > 0 ? "tool-calls" : "stop", raw: undefined },
          usage: {
            inputTokens: { total: 101, noCache: 1, cacheRead: 100, cacheWrite: 0 },
            outputTokens: { total: 1, text: 1, reasoning: 0 },
          },
        },
      ];
      const stream = new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      });
      return { stream };
    },
  };
}
