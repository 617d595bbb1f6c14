// In a folder of its own: Strands is made for other majors of the SDKs than the rest.
import { Agent, FunctionTool, Model, NullConversationManager, SessionManager } from "@strands-agents/sdk";
import { AnthropicModel } from "@strands-agents/sdk/models/anthropic";
import { OpenAIModel } from "@strands-agents/sdk/models/openai";
import { LocalFileStorage } from "@strands-agents/sdk/storage";

export async function open({ wire, url, model = "m", script, tools = [], system, storageFolder }) {
  const made = tools.map(
    ({ name, description, parameters, run }) =>
      new FunctionTool({ name, description, inputSchema: parameters, callback: async (args) => run(args) }),
  );
  const theModel = script ? new Scripted(script) : cloud({ wire, url, model });
  return {
    async converse(id) {
      const agent = new Agent({
        ...{ model: theModel, tools: made, printer: false },
        ...(system && { systemPrompt: system }),
        // The whole conversation, as with the others: theirs keeps 40 messages by default.
        conversationManager: new NullConversationManager(),
        ...(storageFolder && {
          sessionManager: new SessionManager({ sessionId: id, storage: new LocalFileStorage(storageFolder) }),
        }),
      });
      return {
        async ask(content) {
          let text = "";
          for await (const event of agent.stream(content)) {
            const inner = event.type === "modelStreamUpdateEvent" ? event.event : event;
            if (inner.type === "modelContentBlockDeltaEvent" && inner.delta.type === "textDelta")
              text += inner.delta.text;
          }
          return text;
        },
        end: async () => {},
      };
    },
    close: async () => {},
  };
}

function cloud({ wire, url, model: modelId }) {
  if (wire === "anthropic") {
    const clientConfig = { baseURL: url, maxRetries: 0 };
    return new AnthropicModel({
      apiKey: "k",
      clientConfig,
      modelId,
      maxTokens: 4096,
      cacheConfig: { strategy: "auto" },
    });
  }
  const clientConfig = { baseURL: `${url}/v1`, maxRetries: 0 };
  return new OpenAIModel({ api: wire, apiKey: "k", clientConfig, modelId });
}

/** A model of theirs that costs nearly nothing. */
class Scripted extends Model {
  #script;
  constructor(script) {
    super();
    this.#script = script;
  }
  updateConfig() {}
  getConfig() {
    return { modelId: "m", contextWindowLimit: 1_000_000 };
  }
  async *stream(messages) {
    const { text, calls } = this.#script(messages.length);
    yield { type: "modelMessageStartEvent", role: "assistant" };
    yield { type: "modelContentBlockStartEvent" };
    yield { type: "modelContentBlockDeltaEvent", delta: { type: "textDelta", text } };
    yield { type: "modelContentBlockStopEvent" };
    for (const { id, name, args } of calls) {
      yield { type: "modelContentBlockStartEvent", start: { type: "toolUseStart", name, toolUseId: id } };
      const delta = { type: "toolUseInputDelta", input: JSON.stringify(args) };
      yield { type: "modelContentBlockDeltaEvent", delta };
      yield { type: "modelContentBlockStopEvent" };
    }
    yield { type: "modelMessageStopEvent", stopReason: calls.length > 0 ? "toolUse" : "endTurn" };
    yield { type: "modelMetadataEvent", usage: { inputTokens: 101, outputTokens: 1, totalTokens: 102 } };
  }
}
