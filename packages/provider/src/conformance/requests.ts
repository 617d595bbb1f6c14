import {
  type AssistantMessage,
  type ContentPart,
  type Message,
  Messages,
  type ModelOutput,
  newId,
  type ToolDeclarations,
  type ToolResultMessage,
  type UserMessage,
} from "@shedkit/types";
import { freeTool } from "./answers.js";
import type { BackendReply, ProviderCase } from "./backend.js";
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
        block("s1", { type: "text", text: "It is said.", citations: [{ type: "foreign_source" }] }, "another-model"),
        block("s1", { type: "refusal", text: "Not that." }, "another-model"),
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
        for (const text of [
          "second",
          "hurry",
          "Be brief.",
          "It is said.",
          "Not that.",
          "The day has changed.",
          "cut off",
          "oops",
        ]) {
          holds(sent.includes(text), `${JSON.stringify(text)} was not sent`);
        }
        for (const text of ["nobody asked", "of another", "left hanging", "foreign_source"]) {
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
    name: "over 20 steps with three activations, each request begins with the bytes of the one before",
    async run(open) {
      const steps = 20;
      const backend = await open(Array.from({ length: steps }, () => done));
      const messages: Message[] = [Messages.user("Go.")];
      const active: ToolDeclarations["activations"][number][] = [];
      try {
        for (let i = 0; i < steps; i++) {
          const names = active.map(({ name }) => name);
          const declared = {
            shed: freeTool("shed"),
            tools: names.map((name) => freeTool(name)),
            activations: [...active],
          };
          const request = ask(backend, { tools: declared, messages: [...messages], system: "You help." });
          const events = await collect(backend.provider.stream(request));
          same(events.at(-1), { type: "finish", reason: "stop" }, `the end of request ${i}`);
          const name = i % 6 === 2 ? "shed" : (names.at(-1) ?? "read");
          const id = `call_${i}`;
          messages.push(call(`s${i}`, id, backend.model, name), { ...result(id, `result ${i}`), name });
          if (name === "shed" && active.length < 3)
            active.push({ name: `tool${active.length}`, by: { toolCallId: id } });
          if (i % 7 === 0) messages.push(Messages.agent(`Step ${i}.`));
        }
        const parts = backend.requests().map(partsOf);
        for (let i = 1; i < parts.length; i++) {
          for (const part of ["system", "tools", "conversation"] as const) {
            const [before, after] = [parts[i - 1]?.[part] ?? "", parts[i]?.[part] ?? ""];
            const at = firstDifference(before, after);
            if (at < 0) continue;
            const around = `${before.slice(at - 60, at + 20)} became ${after.slice(at - 60, at + 20)}`;
            throw new Error(`request ${i}: the ${part} differs from the one before at character ${at}: ${around}`);
          }
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
    name: "an image that the server cannot read is left out, from then on, and the others are not",
    async run(open) {
      const unread = (message: string): BackendReply => ({
        status: 400,
        error: { code: "invalid_request_error", message },
      });
      // The first names no place, so that the newest is left out; the second one does.
      const failures = [unread("Could not process image"), unread("messages.1.content.2: image exceeds 5 MB maximum")];
      const backend = await open([...failures, done, done]);
      const image = (data: string): ContentPart => ({
        type: "image",
        mediaType: "image/png",
        source: { type: "base64", data },
      });
      const shown: UserMessage = { ...Messages.user("See."), content: ["b25l", "dHdv", "c2l4"].map(image) };
      const messages = [Messages.user("Hi"), block("s1", { type: "text", text: "Yes?" }, backend.model), shown];
      try {
        const events = await collect(backend.provider.stream(ask(backend, { messages })));
        same(events.at(-1), { type: "finish", reason: "stop" }, "the end");
        const start = events[0];
        holds(start?.type === "start" && start.warnings.length > 0, "no warning says that images were left out");
        await collect(backend.provider.stream(ask(backend, { messages: [...messages, Messages.user("And now?")] })));
        const sent = backend.requests().map((body) => {
          const json = JSON.stringify(body);
          return ["b25l", "dHdv", "c2l4"].filter((data) => json.includes(data)).length;
        });
        same(sent, [3, 2, 1, 1], "images in each request");
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

/** What of a body is a beginning of the next one's: its system prompt, its tools, its conversation, each left open. */
function partsOf(body: unknown): { system: string; tools: string; conversation: string } {
  const { system, instructions, tools, messages, input } = body as { [key: string]: unknown };
  const json = (value: unknown): string => withoutMarks(JSON.stringify(value ?? [])).slice(0, -1);
  return { system: json(system ?? instructions ?? ""), tools: json(tools), conversation: json(messages ?? input) };
}

/** Where `after` stops beginning with `before`; -1 where it does not. */
function firstDifference(before: string, after: string): number {
  if (after.startsWith(before)) return -1;
  let at = 0;
  while (before[at] === after[at]) at++;
  return at;
}

/** Marks of what to cache move along; they are no part of what is cached. */
function withoutMarks(json: string): string {
  return json.replaceAll(/,"cache_control":\{[^}]*\}/g, "");
}
