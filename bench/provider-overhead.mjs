// What our providers cost beside the official SDKs, which they send their requests with: CPU time of this process, both
// in turn in the same run, with the medians of each and of the ratios of neighbours.
import process from "node:process";
import { Secret } from "../packages/provider/dist/index.js";
import { AnthropicMessagesProvider } from "../packages/provider-anthropic/dist/index.js";
import Anthropic from "../packages/provider-anthropic/node_modules/@anthropic-ai/sdk/index.mjs";
import { OpenAIProvider } from "../packages/provider-openai-chat/dist/index.js";
import OpenAI from "../packages/provider-openai-chat/node_modules/openai/index.mjs";
import { ResponsesProvider } from "../packages/provider-openai-responses/dist/index.js";
import { Messages } from "../packages/types/dist/index.js";
import { stat } from "./lib/measure.mjs";
import { number, quick, report, spread } from "./lib/report.mjs";
import { answerPieces, fetchOf } from "./lib/wire-streams.mjs";

const LENGTHS = quick ? [25_000, 50_000] : [25_000, 50_000, 100_000, 200_000];
const baseUrl = "http://model.invalid/v1";
const WIRES = {
  "openai-chat": {
    provider: (fetch) => OpenAIProvider.withConfig({ apiKey: new Secret("k"), baseUrl, fetch }),
    sdk(fetch) {
      const client = new OpenAI({ apiKey: "k", baseURL: baseUrl, fetch, maxRetries: 0 });
      return (body, signal) => client.chat.completions.create(body, { signal });
    },
    length: (chunk) => chunk.choices[0]?.delta.content?.length ?? 0,
  },
  "openai-responses": {
    provider: (fetch) => ResponsesProvider.withConfig({ apiKey: new Secret("k"), baseUrl, fetch }),
    sdk(fetch) {
      const client = new OpenAI({ apiKey: "k", baseURL: baseUrl, fetch, maxRetries: 0 });
      return (body, signal) => client.responses.create(body, { signal });
    },
    length: (event) => (event.type === "response.output_text.delta" ? event.delta.length : 0),
  },
  anthropic: {
    provider: (fetch) => AnthropicMessagesProvider.withConfig({ apiKey: new Secret("k"), baseUrl, fetch }),
    sdk(fetch) {
      const client = new Anthropic({ apiKey: "k", baseURL: baseUrl, fetch, maxRetries: 0 });
      return (body, signal) => client.messages.create(body, { signal });
    },
    length: (event) => (event.type === "content_block_delta" ? (event.delta.text?.length ?? 0) : 0),
  },
};

async function bare(open, length, bodies) {
  let total = 0;
  for (const body of bodies) {
    for await (const event of await open(body, new AbortController().signal)) total += length(event);
  }
  return total;
}

async function ours(provider, requests) {
  let total = 0;
  for (const request of requests) {
    for await (const event of provider.stream(request)) {
      if (event.type === "textDelta") total += event.text.length;
      else if (event.type === "failure") throw event.error;
    }
  }
  return total;
}

/** CPU milliseconds. */
async function cpu(run, expected) {
  const before = process.cpuUsage();
  const length = await run();
  const { user, system } = process.cpuUsage(before);
  if (length !== expected) throw new Error(`${length} characters came instead of ${expected}`);
  return (user + system) / 1000;
}

/** Both in turn, each first every other time. */
async function pair(bareRun, ourRun, rounds) {
  const expected = await bareRun();
  for (let i = 0; i < 3; i++) {
    await cpu(bareRun, expected);
    await cpu(ourRun, expected);
  }
  const times = { bare: [], ours: [], ratio: [] };
  for (let i = 0; i < rounds; i++) {
    const first = i % 2 === 0 ? await cpu(bareRun, expected) : undefined;
    const our = await cpu(ourRun, expected);
    const their = first ?? (await cpu(bareRun, expected));
    times.bare.push(their);
    times.ours.push(our);
    times.ratio.push(our / their);
  }
  return Object.fromEntries(Object.entries(times).map(([key, values]) => [key, stat(values)]));
}

const question = (messages, tools = []) => ({
  model: { name: "m" },
  messages,
  tools: { tools, activations: [] },
  params: { maxTokens: 1000 },
});

async function perToken(wire, together) {
  const TOKENS = 5000;
  const { provider, sdk, length } = WIRES[wire];
  const bodies = [];
  const fetch = fetchOf([answerPieces(wire, TOKENS, together)], ({ body }) => bodies.push(JSON.parse(body)));
  const [one, open, request] = [provider(fetch), sdk(fetch), question([Messages.user("Hello")])];
  await ours(one, [request]);
  const [body] = bodies;
  const result = await pair(
    () => bare(open, length, [body]),
    () => ours(one, [request]),
    quick ? 7 : 41,
  );
  const each = (all) => Object.fromEntries(["median", "low", "high"].map((key) => [key, (all[key] * 1000) / TOKENS]));
  return { bare: each(result.bare), ours: each(result.ours), ratio: result.ratio };
}

/** A turn of five requests with ten tools: four calls, each with its result, and an answer; 150 tokens each. */
async function perTurn(wire) {
  const { provider, sdk, length } = WIRES[wire];
  const tools = Array.from({ length: 10 }, (_, i) => ({
    type: "single",
    definition: {
      name: `tool_${i}`,
      category: "files",
      description: "Reads a file of the project, from a line to a line, and says how long it is.",
      arguments: {
        type: "object",
        properties: {
          path: { type: "string", description: "Where it is" },
          from: { type: "integer" },
          to: { type: "integer" },
        },
        required: ["path"],
      },
    },
  }));
  const json = ['{"path":', '"src/', "index", '.ts"', ',"from":1', ',"to":20}'];
  const withCall = answerPieces(wire, 150, 4, { name: "tool_3", json });
  const answers = [withCall, withCall, withCall, withCall, answerPieces(wire, 150, 4)];
  const bodies = [];
  const fetch = fetchOf(answers, ({ body }) => bodies.push(JSON.parse(body)));
  const [one, open] = [provider(fetch), sdk(fetch)];
  const messages = [Messages.user("What does the project do?")];
  const requests = [];
  for (let step = 0; step < answers.length; step++) {
    requests.push(question([...messages], tools));
    const id = `call_${step}`;
    const answer = (output) => ({
      type: "assistant",
      id: `${id}_${output.type}`,
      stepId: `s${step}`,
      role: "assistant",
      output,
    });
    messages.push(answer({ type: "text", text: "I look at a file." }));
    messages.push(
      answer({ type: "toolCall", id, name: "tool_3", arguments: { path: "src/index.ts", from: 1, to: 20 } }),
    );
    const content = [{ type: "text", text: 'export { read } from "./read.js";\n'.repeat(40) }];
    messages.push({ type: "toolResult", id: `${id}_r`, role: "tool", toolCallId: id, name: "tool_3", content });
  }
  await ours(one, requests);
  const sent = bodies.slice();
  const result = await pair(
    () => bare(open, length, sent),
    () => ours(one, requests),
    quick ? 9 : 61,
  );
  return result;
}

/** Whether a long stream costs a token what a short one does, and keeps more than its text. */
async function long(wire) {
  const line = [];
  for (const tokens of LENGTHS) {
    const one = WIRES[wire].provider(fetchOf([answerPieces(wire, tokens, 8)]));
    const request = question([Messages.user("Hello")]);
    await ours(one, [request]);
    globalThis.gc?.();
    const [heap, start] = [process.memoryUsage().heapUsed, process.cpuUsage()];
    let most = 0;
    let came = 0;
    for await (const event of one.stream(request)) {
      if (event.type !== "textDelta" || ++came % 20_000 !== 0) continue;
      globalThis.gc?.();
      most = Math.max(most, process.memoryUsage().heapUsed - heap);
    }
    const { user, system } = process.cpuUsage(start);
    line.push({ tokens, token: (user + system) / tokens, megabytes: most / 1e6 });
  }
  return line;
}

const data = { token: {}, turn: {}, long: {} };
for (const wire of Object.keys(WIRES)) {
  for (const together of [8, 1]) data.token[`${wire}, ${together} to a read`] = await perToken(wire, together);
  data.turn[wire] = await perTurn(wire);
  data.long[wire] = await long(wire);
}
const rows = (all) =>
  Object.entries(all).map(([name, { bare, ours, ratio }]) => [name, spread(bare), spread(ours), spread(ratio)]);
report("provider-overhead", {
  data,
  tables: [
    {
      key: "token",
      title: "A streamed token, CPU, us (bar: 1.15)",
      head: ["", "SDK", "ours", "ours / SDK"],
      rows: rows(data.token),
    },
    {
      key: "turn",
      title: "A turn of five requests with ten tools, CPU, ms (bar: 1.2)",
      head: ["", "SDK", "ours", "ours / SDK"],
      rows: rows(data.turn),
    },
    {
      key: "long",
      title: "A long stream: CPU a token, us, and megabytes over the stream before",
      head: ["", ...LENGTHS.map((length) => `${length / 1000}k tokens`)],
      rows: Object.entries(data.long).map(([wire, line]) => [
        wire,
        ...line.map(({ token, megabytes }) => `${number(token)}, ${number(megabytes)} MB`),
      ]),
    },
  ],
});
