import type { Tool } from "@shedkit/types";
import type { BackendPart, ProviderCase } from "./backend.js";
import { ask, collect, holds, outputsOf, play, same } from "./check.js";

const odd = 'Grüße 😀 \u0000 \r\n\t "quoted" </think> \\u0041 漢字 👩‍👩‍👧';
const args = { path: odd, deep: { list: [1, 2.5, -3, true, null, { "": [] }] }, text: '{"a":1}', empty: "" };
const anything = { type: "object", properties: { path: { type: "string" } }, additionalProperties: true };

/** A tool that takes anything. */
export function freeTool(name = "read"): Tool {
  return { type: "single", definition: { name, category: "read", description: "Reads.", arguments: anything } };
}

const withTools = { tools: { tools: [freeTool()], activations: [] } };
const parts: readonly BackendPart[] = [
  { thinking: "Hm, 😀.", signature: "c2ln" },
  odd,
  { call: "read", arguments: args },
  { call: "read", arguments: { path: "b" } },
];

/** What comes of an answer that goes well. */
export const answerCases: readonly ProviderCase[] = [
  {
    name: "a text streams as deltas, then whole, then its usage and why it stopped",
    async run(open) {
      const usage = { input: 7, output: 5, cacheRead: 3, reasoning: 0 };
      const events = await play(open, { answer: { parts: ["Hello, world. ", odd], usage } });
      same(outputsOf(events), [{ type: "text", text: `Hello, world. ${odd}` }], "outputs");
      holds(events.filter((event) => event.type === "textDelta").length > 1, "the text came in one piece");
      const reported = events.findLast((event) => event.type === "usage");
      const { costUsd: _, ...counts } = reported?.type === "usage" ? reported.usage : { costUsd: 0 };
      same(counts, { ...usage, cacheWrite: 0, total: 15 }, "usage");
      same(events.at(-1), { type: "finish", reason: "stop" }, "the end");
    },
  },
  {
    name: "thinking, text and parallel calls keep their order and their arguments, exactly",
    async run(open) {
      const events = await play(open, { answer: { parts } }, withTools);
      const outputs = outputsOf(events);
      same(
        outputs.map((output) => output.type),
        ["thinking", "text", "toolCall", "toolCall"],
        "kinds of output",
      );
      const calls = outputs.filter((output) => output.type === "toolCall");
      same(
        calls.map((call) => [call.name, call.arguments, call.rawArguments]),
        [
          ["read", args, undefined],
          ["read", { path: "b" }, undefined],
        ],
        "calls",
      );
      holds(calls[0]?.id !== calls[1]?.id, "two calls have one id");
      const thinking = outputs[0];
      same(thinking?.type === "thinking" && thinking.text, "Hm, 😀.", "thinking");
      const started = events.filter((event) => event.type === "toolCallStart").map(({ id }) => id);
      same(
        started,
        calls.map(({ id }) => id),
        "ids when the calls began",
      );
      same(events.at(-1), { type: "finish", reason: "toolUse" }, "the end");
    },
  },
  {
    name: "the same bytes give the same events, wherever they are cut",
    async run(open) {
      const whole = await play(open, { answer: { parts } }, withTools);
      for (const split of [1, 2, 3, 7, 64]) {
        same(await play(open, { answer: { parts }, split }, withTools), whole, `events with ${split} bytes a write`);
      }
    },
  },
  {
    name: "no arguments are an empty object",
    async run(open) {
      for (const raw of ["", "{}", " "]) {
        const [call] = outputsOf(await play(open, { answer: { parts: [{ call: "read", raw }] } }, withTools));
        same(call?.type === "toolCall" && call.arguments, {}, `arguments of ${JSON.stringify(raw)}`);
      }
    },
  },
  {
    name: "arguments that are no JSON object are handed on as they came",
    async run(open) {
      for (const raw of ['{"path": "a', "nonsense", "[1]", '{"n": 12345678901234567890}']) {
        const events = await play(open, { answer: { parts: [{ call: "read", raw }] } }, withTools);
        const [call] = outputsOf(events);
        same(call?.type === "toolCall" && [call.arguments, call.rawArguments], [undefined, raw], "arguments");
        same(events.at(-1), { type: "finish", reason: "toolUse" }, "the end");
      }
    },
  },
  {
    name: "a tool whose name the wire does not take is called by its own",
    async run(open) {
      const tools = { tools: [freeTool("files.read")], activations: [] };
      const [call] = outputsOf(await play(open, { answer: { parts: [{ call: "files_read", raw: "{}" }] } }, { tools }));
      same(call?.type === "toolCall" && call.name, "files.read", "name");
    },
  },
  {
    name: "absent properties that a strict schema made null are absent again",
    async run(open) {
      const schema = {
        type: "object",
        properties: { path: { type: "string" }, limit: { type: "integer" } },
        required: ["path"],
        additionalProperties: false,
      };
      const definition = { name: "read", category: "read", description: "Reads.", arguments: schema };
      const tools = { tools: [{ type: "single", definition } as const], activations: [] };
      const answer = { parts: [{ call: "read", arguments: { path: "a" } }] };
      const [call] = outputsOf(await play(open, { answer }, { tools }));
      same(call?.type === "toolCall" && call.arguments, { path: "a" }, "arguments");
    },
  },
  {
    name: "an answer that was too long says so, with what came",
    async run(open) {
      const events = await play(open, { answer: { parts: ["half"], finish: "length" } });
      same(outputsOf(events), [{ type: "text", text: "half" }], "outputs");
      same(events.at(-1), { type: "finish", reason: "length" }, "the end");
    },
  },
  {
    name: "an answer of nothing is an answer",
    async run(open) {
      const events = await play(open, { answer: { parts: [] } });
      same(outputsOf(events), [], "outputs");
      same(events.at(-1), { type: "finish", reason: "stop" }, "the end");
    },
  },
  {
    name: "two requests at once do not mix",
    async run(open) {
      const backend = await open([{ answer: { parts: ["one"] } }, { answer: { parts: ["two"] } }]);
      try {
        const [a, b] = await Promise.all([1, 2].map(() => collect(backend.provider.stream(ask(backend)))));
        const texts = [a, b].map((events) => outputsOf(events ?? [])[0]);
        same(texts.map((output) => output?.type === "text" && output.text).sort(), ["one", "two"], "texts");
      } finally {
        await backend.close();
      }
    },
  },
];
