import { Agent } from "@earendil-works/pi-agent-core";
import { createAssistantMessageEventStream, createModels, createProvider, envApiKeyAuth } from "@earendil-works/pi-ai";
import { anthropicMessagesApi } from "@earendil-works/pi-ai/api/anthropic-messages.lazy";
import { openAICompletionsApi } from "@earendil-works/pi-ai/api/openai-completions.lazy";
import { openAIResponsesApi } from "@earendil-works/pi-ai/api/openai-responses.lazy";

const APIS = {
  chat: ["openai-completions", openAICompletionsApi],
  responses: ["openai-responses", openAIResponsesApi],
  anthropic: ["anthropic-messages", anthropicMessagesApi],
};
const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
let sessions = 0;

export async function open({ wire, url, model: id = "m", script, tools = [], system = "" }) {
  const [api, load] = script ? ["scripted"] : APIS[wire];
  const model = {
    ...{ id, name: id, api, provider: "bench", baseUrl: wire === "anthropic" ? url : `${url}/v1`, reasoning: false },
    ...{ input: ["text"], cost: COST, contextWindow: 1_000_000, maxTokens: 4096 },
  };
  const streamFn = script ? scripted(script) : streamOver(model, load());
  const made = tools.map(({ name, description, parameters, run }) => ({
    ...{ name, label: name, description, parameters },
    execute: async (_, args) => ({ content: [{ type: "text", text: await run(args) }], details: {} }),
  }));
  return {
    async converse() {
      const agent = new Agent({
        initialState: { systemPrompt: system, model, tools: made },
        streamFn,
        sessionId: `session-${++sessions}`,
      });
      let text = "";
      agent.subscribe((event) => {
        if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta") {
          text += event.assistantMessageEvent.delta;
        }
      });
      return {
        async ask(content) {
          text = "";
          await agent.prompt(content);
          if (agent.state.errorMessage) throw new Error(agent.state.errorMessage);
          return text;
        },
        end: async () => {},
      };
    },
    close: async () => {},
  };
}

function streamOver(model, api) {
  const models = createModels();
  const auth = { apiKey: envApiKeyAuth("Key", ["BENCH_API_KEY"]) };
  process.env.BENCH_API_KEY = "k";
  models.setProvider(createProvider({ id: "bench", auth, models: [model], api }));
  return models.streamSimple.bind(models);
}

/** A stream function that costs nearly nothing. */
function scripted(script) {
  return (_model, { messages }) => {
    const { text, calls } = script(messages.length);
    const message = {
      ...{ role: "assistant", content: [], api: "scripted", provider: "bench", model: "m" },
      usage: { input: 1, output: 1, cacheRead: 100, cacheWrite: 0, totalTokens: 102, cost: COST },
      ...{ stopReason: calls.length > 0 ? "toolUse" : "stop", timestamp: Date.now() },
    };
    const stream = createAssistantMessageEventStream();
    const push = (event) => stream.push({ ...event, partial: message });
    push({ type: "start" });
    message.content.push({ type: "text", text: "" });
    push({ type: "text_start", contentIndex: 0 });
    message.content[0].text = text;
    push({ type: "text_delta", contentIndex: 0, delta: text });
    push({ type: "text_end", contentIndex: 0, content: text });
    for (const [i, { id, name, args }] of calls.entries()) {
      const call = { type: "toolCall", id, name, arguments: args };
      message.content.push(call);
      push({ type: "toolcall_start", contentIndex: i + 1 });
      push({ type: "toolcall_delta", contentIndex: i + 1, delta: JSON.stringify(args) });
      push({ type: "toolcall_end", contentIndex: i + 1, toolCall: call });
    }
    stream.push({ type: "done", reason: message.stopReason, message });
    return stream;
  };
}
