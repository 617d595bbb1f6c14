import { ChatAnthropic } from "@langchain/anthropic";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { anthropicPromptCachingMiddleware, createAgent, tool } from "langchain";

let threads = 0;

/** `checkpointer`: where threads live; in memory with `inMemory`, else nowhere. */
export async function open({ wire, url, model = "m", script, tools = [], steps = 20, system, checkpointer, inMemory }) {
  const saver = checkpointer ?? (inMemory ? new MemorySaver() : undefined);
  const agent = createAgent({
    model: script ? new Scripted(script) : chatModel({ wire, url, model }),
    tools: tools.map(({ name, description, parameters, run }) =>
      tool(async (args) => run(args), { name, description, schema: parameters }),
    ),
    ...(system && { systemPrompt: system }),
    ...(saver && { checkpointer: saver }),
    ...(wire === "anthropic" &&
      tools.length > 0 && { middleware: [anthropicPromptCachingMiddleware({ minMessagesToCache: 0 })] }),
  });
  return {
    async converse(id) {
      const thread_id = id ?? `thread-${++threads}`;
      let kept = [];
      return {
        async ask(content) {
          let text = "";
          const user = { role: "user", content };
          const input = { messages: saver ? [user] : [...kept, user] };
          // A step is a model's node and the tools' node.
          const config = {
            streamMode: ["messages", "values"],
            recursionLimit: 4 * steps + 10,
            configurable: { thread_id },
          };
          for await (const [mode, value] of await agent.stream(input, config)) {
            if (mode === "values") kept = value.messages;
            else if (value[0].getType() === "ai") text += value[0].text;
          }
          if (saver) kept = [];
          return text;
        },
        end: async () => {},
      };
    },
    close: async () => {},
  };
}

function chatModel({ wire, url, model }) {
  if (wire === "anthropic")
    return new ChatAnthropic({ model, apiKey: "k", anthropicApiUrl: url, maxRetries: 0, maxTokens: 4096 });
  const configuration = { baseURL: `${url}/v1` };
  return new ChatOpenAI({
    ...{ model, apiKey: "k", configuration, maxRetries: 0, streamUsage: true, useResponsesApi: wire === "responses" },
    ...(wire === "responses" && { zdrEnabled: true }), // sends the conversation itself, like the others
  });
}

/** A chat model of theirs that costs nearly nothing. */
class Scripted extends BaseChatModel {
  #script;
  constructor(script) {
    super({});
    this.#script = script;
  }
  _llmType() {
    return "scripted";
  }
  bindTools() {
    return this;
  }
  async _generate() {
    throw new Error("It streams.");
  }
  async *_streamResponseChunks(messages, _options, runManager) {
    const { text, calls } = this.#script(messages.length);
    const said = new ChatGenerationChunk({ text, message: new AIMessageChunk({ content: text }) });
    yield said;
    await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk: said });
    const tool_call_chunks = calls.map(({ id, name, args }, index) => ({
      ...{ type: "tool_call_chunk", id, index, name, args: JSON.stringify(args) },
    }));
    const usage_metadata = { input_tokens: 101, output_tokens: 1, total_tokens: 102 };
    yield new ChatGenerationChunk({
      text: "",
      message: new AIMessageChunk({ content: "", tool_call_chunks, usage_metadata }),
    });
  }
}
