import { Agent } from "@mastra/core/agent";
import { ToolSearchProcessor } from "@mastra/core/processors";
import { createTool } from "@mastra/core/tools";
import { aiModel, scripted } from "./ai.mjs";

let threads = 0;

/** `search`: their ToolSearchProcessor; `memory`: a Memory of theirs, over a store. */
export async function open({ wire, url, model, script, tools = [], steps = 20, system, search, memory }) {
  const made = Object.fromEntries(
    tools.map(({ name, description, parameters, run }) => [
      name,
      createTool({
        id: name,
        description,
        inputSchema: parameters,
        execute: async (args) => ({ text: await run(args) }),
      }),
    ]),
  );
  const agent = new Agent({
    ...{ id: "assistant", name: "assistant", instructions: system ?? "You are a helpful assistant." },
    model: script ? scripted(script) : aiModel({ wire, url, model }),
    ...(!search && { tools: made }),
    // `autoLoad` spares a step for each tool, 'context' keeps what was found as long as the conversation does.
    ...(search && {
      inputProcessors: [
        new ToolSearchProcessor({ tools: made, search: { topK: 5, autoLoad: true }, storage: "context" }),
      ],
    }),
    ...(memory && { memory }),
  });
  return {
    async converse(id) {
      const thread = id ?? `thread-${++threads}`;
      const messages = [];
      return {
        async ask(content) {
          messages.push({ role: "user", content });
          const options = {
            ...{ maxSteps: steps + 1, modelSettings: { maxRetries: 0 } },
            ...(wire === "anthropic" && { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }),
            ...(memory && { memory: { thread, resource: "user" } }),
          };
          const result = await agent.stream(memory ? content : messages, options);
          let text = "";
          for await (const part of result.fullStream) {
            if (part.type === "text-delta") text += part.payload.text;
            else if (part.type === "error") throw part.payload.error;
          }
          if (!memory) messages.push(...(await result.response).messages);
          return text;
        },
        end: async () => {},
      };
    },
    close: async () => {},
  };
}
