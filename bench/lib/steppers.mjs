import { Agent } from "@earendil-works/pi-agent-core";
import { createAssistantMessageEventStream } from "@earendil-works/pi-ai";
import { AgentSession } from "@shedkit/agent";
import { ToolShed } from "@shedkit/shed";
import { FnTool } from "@shedkit/tool";

// The same work for each: an answer of some text and one call of a tool, `count` times, then a last answer. A model that
// says so costs nearly nothing; `onStep(i)` is called when it is asked for answer number i.

const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const sayOf = (i) => `This is step number ${i} of many.`;
const argsOf = (i) => ({ text: `the text of step ${i}` });
const reply = (text) => `echo: ${text}`;

/** A model backend of Shedkit's. */
export function scripted(count, onStep = () => {}) {
  let i = 0;
  return {
    id: "scripted",
    serves: () => "yes",
    async *stream() {
      const step = i++;
      onStep(step);
      const text = sayOf(step);
      yield { type: "start", warnings: [] };
      yield { type: "textDelta", block: 0, text };
      yield { type: "output", block: 0, output: { type: "text", text } };
      const calls = step < count;
      if (calls) {
        const args = argsOf(step);
        yield { type: "toolCallStart", block: 1, id: `call_${step}`, name: "echo" };
        yield { type: "toolCallDelta", block: 1, json: JSON.stringify(args) };
        yield {
          type: "output",
          block: 1,
          output: { type: "toolCall", id: `call_${step}`, name: "echo", arguments: args },
        };
      }
      const usage = { input: 1, output: 1, cacheRead: 100, cacheWrite: 0, reasoning: 0, total: 102 };
      yield { type: "usage", usage };
      yield { type: "finish", reason: calls ? "toolUse" : "stop" };
    },
  };
}

export function echoShed() {
  const echo = new FnTool("echo", "Says a text back.", schema, async (args) => reply(args.str("text")));
  return new ToolShed().tool(echo).pin("echo");
}

/** A session that can run `count` steps; `change` may give the builder stores. */
export async function shedkit(count, onStep, change = (builder) => builder) {
  const builder = AgentSession.builder(scripted(count, onStep)).withModel("m").withToolshed(echoShed());
  const session = await change(builder).build();
  return {
    run: async () => {
      const turn = await session.runTurn("Go", { maxSteps: count + 1 });
      if (turn.failure) throw turn.failure;
    },
    end: () => session.end(),
  };
}

/** pi-agent-core's agent, doing the same. */
export async function pi(count, onStep = () => {}) {
  let i = 0;
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const model = {
    ...{ id: "m", name: "m", api: "scripted", provider: "scripted", baseUrl: "", reasoning: false, input: ["text"] },
    ...{ cost, contextWindow: 1_000_000, maxTokens: 1000 },
  };
  const streamFn = () => {
    const step = i++;
    onStep(step);
    const calls = step < count;
    const text = sayOf(step);
    const message = {
      ...{ role: "assistant", content: [], api: "scripted", provider: "scripted", model: "m" },
      usage: { input: 1, output: 1, cacheRead: 100, cacheWrite: 0, totalTokens: 102, cost },
      ...{ stopReason: calls ? "toolUse" : "stop", timestamp: Date.now() },
    };
    const stream = createAssistantMessageEventStream();
    const push = (event) => stream.push({ ...event, partial: message });
    push({ type: "start" });
    message.content.push({ type: "text", text: "" });
    push({ type: "text_start", contentIndex: 0 });
    message.content[0].text = text;
    push({ type: "text_delta", contentIndex: 0, delta: text });
    push({ type: "text_end", contentIndex: 0, content: text });
    if (calls) {
      const call = { type: "toolCall", id: `call_${step}`, name: "echo", arguments: argsOf(step) };
      message.content.push(call);
      push({ type: "toolcall_start", contentIndex: 1 });
      push({ type: "toolcall_delta", contentIndex: 1, delta: JSON.stringify(call.arguments) });
      push({ type: "toolcall_end", contentIndex: 1, toolCall: call });
    }
    stream.push({ type: "done", reason: message.stopReason, message });
    return stream;
  };
  const echo = {
    ...{ name: "echo", label: "echo", description: "Says a text back.", parameters: schema },
    execute: async (_, { text }) => ({ content: [{ type: "text", text: reply(text) }], details: {} }),
  };
  const agent = new Agent({ initialState: { systemPrompt: "", model, tools: [echo] }, streamFn });
  return {
    run: async () => {
      await agent.prompt("Go");
      if (i !== count + 1) throw new Error(`pi stopped after ${i} answers: ${agent.state.errorMessage}`);
    },
    end: async () => {},
  };
}
