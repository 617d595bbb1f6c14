import {
  type AssistantMessage,
  type Message,
  Messages,
  type ModelOutput,
  newId,
  type ToolResultMessage,
} from "@shedkit/types";
import { freeTool } from "./answers.js";
import type { ProviderCase } from "./backend.js";
import { ask, collect, holds, outputsOf, play, same } from "./check.js";

const block = (stepId: string, output: ModelOutput, model: string): AssistantMessage => ({
  type: "assistant",
  id: newId(),
  turnId: "t",
  stepId,
  model,
  output,
});
const call = (stepId: string, id: string, model: string, name = "read"): AssistantMessage =>
  block(stepId, { type: "toolCall", id, name, arguments: { path: id } }, model);
const result = (toolCallId: string, text: string, errorDetail?: string): ToolResultMessage => ({
  type: "toolResult",
  id: newId(),
  turnId: "t",
  stepId: "s",
  toolCallId,
  name: "read",
  content: [{ type: "text", text }],
  ...(errorDetail !== undefined && { errorDetail }),
});

const tools = { tools: [freeTool()], activations: [] };
const done = { answer: { parts: ["done"] } };

/** What is sent: the server refuses what the real API refuses. */
export const requestCases: readonly ProviderCase[] = [
  {
    name: "a conversation in any disorder is sent as one that the server takes",
    async run(open) {
      const backend = await open([done]);
      const { model } = backend;
      const messages: Message[] = [
        block("s0", { type: "text", text: "cut off at the front" }, model),
        Messages.user("Hi \ud800"),
        Messages.agent("Be brief."),
        block("s1", { type: "thinking", text: "of another", signature: "x" }, "another-model"),
        block("s1", { type: "opaque", provider: "another", block: { type: "x" } }, "another-model"),
        call("s1", "call|1/ü", "another-model"),
        call("s1", "b".repeat(90), "another-model", "gone.tool"),
        Messages.user("hurry"),
        result("b".repeat(90), "second", "no such file"),
        result("ghost", "nobody asked"),
        result("call|1/ü", ""),
        call("s2", "lost", model),
        Messages.system("The day has changed."),
        block("s3", { type: "toolCall", id: "bad", name: "read", rawArguments: "{oops" }, model),
        result("bad", "Invalid."),
        block("s4", { type: "text", text: "Well." }, model),
        block("s4", { type: "thinking", text: "left hanging" }, model),
        Messages.user("And?"),
      ];
      try {
        const events = await collect(backend.provider.stream(ask(backend, { messages, tools, system: "You help." })));
        same(events.at(-1), { type: "finish", reason: "stop" }, "the end");
        const sent = JSON.stringify(backend.requests()[0]);
        for (const text of ["second", "hurry", "Be brief.", "The day has changed.", "cut off", "oops"]) {
          holds(sent.includes(text), `${JSON.stringify(text)} was not sent`);
        }
        for (const text of ["nobody asked", "of another", "left hanging"]) {
          holds(!sent.includes(text), `${JSON.stringify(text)} was sent`);
        }
        holds(sent.indexOf("hurry") > sent.indexOf("second"), "what was said between a call and its result came first");
      } finally {
        await backend.close();
      }
    },
  },
  {
    name: "what a model answered goes back to it, and the server takes it",
    async run(open) {
      const parts = [
        { thinking: "I look.", signature: "c2lnbmF0dXJl" },
        "Looking.",
        { call: "read", arguments: { path: "a" } },
        { call: "read", arguments: { path: "b" } },
      ];
      const backend = await open([{ answer: { parts } }, done]);
      const { model } = backend;
      try {
        const first = ask(backend, { tools });
        const outputs = outputsOf(await collect(backend.provider.stream(first)));
        const calls = outputs.flatMap((output) => (output.type === "toolCall" ? [output.id] : []));
        const messages = [
          ...first.messages,
          ...outputs.map((output) => block("s1", output, model)),
          ...calls.toReversed().map((id) => result(id, `result of ${id}`)),
        ];
        const events = await collect(backend.provider.stream(ask(backend, { tools, messages })));
        same(events.at(-1), { type: "finish", reason: "stop" }, "the end");
        const sent = JSON.stringify(backend.requests()[1]);
        const order = calls.map((id) => sent.indexOf(`result of ${id}`));
        holds((order[0] ?? 0) < (order[1] ?? 0) && !order.includes(-1), "results are not in the order of the calls");
      } finally {
        await backend.close();
      }
    },
  },
  {
    name: "a request that goes on begins with the bytes of the one before",
    async run(open) {
      const steps = 6;
      const backend = await open(Array.from({ length: steps }, () => done));
      const messages: Message[] = [Messages.user("Go.")];
      try {
        for (let i = 0; i < steps; i++) {
          const events = await collect(
            backend.provider.stream(ask(backend, { tools, messages: [...messages], system: "You help." })),
          );
          same(events.at(-1), { type: "finish", reason: "stop" }, `the end of request ${i}`);
          messages.push(call(`s${i}`, `call_${i}`, backend.model), result(`call_${i}`, `result ${i}`));
        }
        const bodies = backend
          .requests()
          .map((body) => withoutMarks(JSON.stringify(conversationOf(body))).slice(0, -1));
        for (let i = 1; i < bodies.length; i++) {
          const [before = "", after = ""] = [bodies[i - 1], bodies[i]];
          const at = [...before].findIndex((character, n) => after[n] !== character);
          holds(
            at < 0,
            `request ${i} differs from the one before at ${at}: ${after.slice(Math.max(0, at - 40), at + 40)}`,
          );
        }
      } finally {
        await backend.close();
      }
    },
  },
  {
    name: "a result of 2 MB goes through",
    async run(open) {
      const text = "0123456789abcdeü".repeat(1 << 17);
      const backend = await open([done]);
      try {
        const messages = [Messages.user("Go."), call("s1", "a", backend.model), result("a", text)];
        const events = await collect(backend.provider.stream(ask(backend, { tools, messages })));
        same(events.at(-1), { type: "finish", reason: "stop" }, "the end");
        holds(JSON.stringify(backend.requests()[0]).includes(text), "the text did not arrive whole");
      } finally {
        await backend.close();
      }
    },
  },
  {
    name: "an image in a result is sent as one",
    async run(open) {
      const data = "iVBORw0KGgo=";
      const backend = await open([done]);
      try {
        const shot: ToolResultMessage = {
          ...result("a", ""),
          content: [{ type: "image", mediaType: "image/png", source: { type: "base64", data } }],
        };
        const messages = [Messages.user("Go."), call("s1", "a", backend.model), shot];
        const events = await collect(backend.provider.stream(ask(backend, { tools, messages })));
        same(events.at(-1), { type: "finish", reason: "stop" }, "the end");
        holds(JSON.stringify(backend.requests()[0]).includes(data), "the image did not arrive");
      } finally {
        await backend.close();
      }
    },
  },
  {
    name: "an answer's schema is sent, and what was wrapped for the wire is unwrapped",
    async run(open) {
      const output = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
      const events = await play(open, { answer: { parts: ['{"n":3}'] } }, { output });
      const [text] = outputsOf(events);
      same(text?.type === "text" && JSON.parse(text.text), { n: 3 }, "answer");
    },
  },
];

/** The part of a body that is the conversation: its messages, or its input items. */
function conversationOf(body: unknown): unknown {
  const { messages, input } = body as { messages?: unknown; input?: unknown };
  return messages ?? input;
}

/** Marks of what to cache move along; they are no part of what is cached. */
function withoutMarks(json: string): string {
  return json.replaceAll(/,"cache_control":\{[^}]*\}/g, "");
}
