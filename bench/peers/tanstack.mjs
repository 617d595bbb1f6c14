import { chat, maxIterations, toolDefinition } from "@tanstack/ai";
import { createAnthropicChat } from "@tanstack/ai-anthropic";
import { createOpenaiChat, createOpenaiChatCompletions } from "@tanstack/ai-openai";

/** Tools give objects, as in their documentation: a plain text is tried as JSON over and over. `search`: their lazy tools, whose schemas are discovered by exact name. */
export async function open({ wire, url, model = "m", script, tools = [], steps = 20, system, search }) {
  const adapter = script ? scripted(script) : cloud({ wire, url, model });
  const made = tools.map(({ name, description, parameters, run }) =>
    toolDefinition({ name, description, inputSchema: parameters, ...(search && { lazy: true }) }).server(
      async (args) => ({ text: await run(args) }),
    ),
  );
  return {
    async converse() {
      const messages = [];
      return {
        async ask(content) {
          messages.push({ role: "user", content });
          const stream = chat({
            ...{ adapter, messages, tools: made, agentLoopStrategy: maxIterations(steps + 1) },
            ...(system && { systemPrompts: [cacheable(wire, system)] }),
            ...(search && { lazyToolsConfig: { includeDescription: "first-sentence" } }),
          });
          let text = "";
          for await (const chunk of stream) {
            if (chunk.type === "TEXT_MESSAGE_CONTENT") text += chunk.delta;
            else if (chunk.type === "RUN_ERROR") throw new Error(chunk.message ?? chunk.error?.message);
          }
          messages.push({ role: "assistant", content: text });
          return text;
        },
        end: async () => {},
      };
    },
    close: async () => {},
  };
}

/** Their way to mark what Anthropic caches: the system prompt, and with it the tools before it. */
function cacheable(wire, content) {
  return wire === "anthropic" ? { content, metadata: { cache_control: { type: "ephemeral" } } } : content;
}

function cloud({ wire, url, model }) {
  if (wire === "anthropic") return createAnthropicChat(model, "k", { baseURL: url, maxRetries: 0 });
  const make = wire === "chat" ? createOpenaiChatCompletions : createOpenaiChat;
  return make(model, "k", { baseURL: `${url}/v1`, maxRetries: 0 });
}

/** A text adapter of theirs that costs nearly nothing. */
function scripted(script) {
  let runs = 0;
  return {
    kind: "text",
    name: "scripted",
    model: "m",
    async *chatStream({ messages, threadId = "t" }) {
      const { text, calls } = script(messages.length);
      const runId = `run-${runs++}`;
      const at = { model: "m", timestamp: Date.now() };
      const messageId = `m-${runId}`;
      yield { type: "RUN_STARTED", runId, threadId, ...at };
      yield { type: "TEXT_MESSAGE_START", messageId, role: "assistant", ...at };
      yield { type: "TEXT_MESSAGE_CONTENT", messageId, delta: text, ...at };
      yield { type: "TEXT_MESSAGE_END", messageId, ...at };
      for (const [index, { id, name, args }] of calls.entries()) {
        yield {
          type: "TOOL_CALL_START",
          toolCallId: id,
          toolCallName: name,
          toolName: name,
          index,
          parentMessageId: messageId,
          ...at,
        };
        yield { type: "TOOL_CALL_ARGS", toolCallId: id, delta: JSON.stringify(args), ...at };
        yield { type: "TOOL_CALL_END", toolCallId: id, toolCallName: name, toolName: name, input: args, ...at };
      }
      const usage = { promptTokens: 101, completionTokens: 1, totalTokens: 102 };
      yield {
        type: "RUN_FINISHED",
        runId,
        threadId,
        usage,
        finishReason: calls.length > 0 ? "tool_calls" : "stop",
        ...at,
      };
    },
    structuredOutput: async () => {
      throw new Error("It streams.");
    },
  };
}
