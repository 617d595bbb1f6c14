import {
  Agent,
  MemorySession,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  Runner,
  setTracingDisabled,
  tool,
  Usage,
} from "@openai/agents";
import OpenAI from "openai";

setTracingDisabled(true);

export async function open({ wire, url, model = "m", script, tools = [], steps = 20, system }) {
  const agent = new Agent({
    name: "Assistant",
    instructions: system ?? "You are a helpful assistant.",
    model: script ? scripted(script) : openaiModel({ wire, url, model }),
    modelSettings: { store: false },
    tools: tools.map(({ name, description, parameters, run }) =>
      tool({
        name,
        description,
        parameters: { additionalProperties: true, ...parameters },
        strict: false,
        execute: async (args) => run(args),
      }),
    ),
  });
  const runner = new Runner({ tracingDisabled: true });
  return {
    async converse() {
      const session = new MemorySession();
      return {
        async ask(content) {
          const result = await runner.run(agent, content, { stream: true, session, maxTurns: steps + 2 });
          let text = "";
          for await (const event of result) {
            if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta")
              text += event.data.delta;
          }
          await result.completed;
          return text;
        },
        end: async () => {},
      };
    },
    close: async () => {},
  };
}

function openaiModel({ wire, url, model }) {
  const client = new OpenAI({ apiKey: "k", baseURL: `${url}/v1`, maxRetries: 0 });
  return wire === "chat" ? new OpenAIChatCompletionsModel(client, model) : new OpenAIResponsesModel(client, model);
}

/** A model of theirs that costs nearly nothing. */
function scripted(script) {
  return {
    async getResponse() {
      throw new Error("It streams.");
    },
    async *getStreamedResponse({ input }) {
      const { text, calls } = script(input.length);
      yield { type: "response_started" };
      yield { type: "output_text_delta", delta: text };
      const message = {
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text }],
      };
      const output = calls.map(({ id, name, args }) => ({
        ...{ type: "function_call", callId: id, name, status: "completed", arguments: JSON.stringify(args) },
      }));
      const usage = new Usage({ requests: 1, inputTokens: 101, outputTokens: 1, totalTokens: 102 });
      yield { type: "response_done", response: { id: "r", usage, output: [message, ...output] } };
    },
  };
}
