// What our provider of GGUF models costs beside bare node-llama-cpp, and what it saves: the CPU alone, one model.
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { LlamaCppProvider } from "@shedkit/provider-llamacpp";
import { tinyGguf } from "@shedkit/testing";
import { ChatTemplate, familyOf } from "@shedkit/text-tools";
import { Messages } from "@shedkit/types";
import { getLlama, LlamaCompletion } from "../packages/provider-llamacpp/node_modules/node-llama-cpp/dist/index.js";
import { stat, timed } from "./lib/measure.mjs";
import { number, quick, report, spread } from "./lib/report.mjs";
import { share } from "./lib/shares.mjs";

const { values } = parseArgs({
  options: {
    model: { type: "string" },
    width: { type: "string", default: quick ? "320" : "640" },
    layers: { type: "string", default: quick ? "6" : "8" },
    threads: { type: "string", default: "1" },
    rounds: { type: "string", default: quick ? "3" : "11" },
    tokens: { type: "string", default: quick ? "48" : "128" },
    quick: { type: "boolean" },
  },
});
if (values.model !== undefined && !existsSync(values.model)) {
  console.error(`There is no file ${values.model}. --model names a GGUF file.`);
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), "shedkit-bench-"));
const path = values.model ?? join(folder, "made.gguf");
if (values.model === undefined) {
  // Made here, of a size at which computing takes most of the time; it never stops of its own accord.
  const [width, layers] = [values.width, values.layers].map(Number);
  writeFileSync(path, tinyGguf({ says: ["tick ", "tack "], forever: true, contextLength: 4096, width, layers }));
}
const [threads, rounds, tokens] = [values.threads, values.rounds, values.tokens].map(Number);
const contextLength = 2048;

const user = (text) => Messages.user(text);
const said = (text, i) => ({
  type: "assistant",
  id: `a${i}`,
  turnId: `t${i}`,
  stepId: `s${i}`,
  model: path,
  output: { type: "text", text },
});
/** Hot, so that the answer goes on: a cool one ends soon. */
const hot = { temperature: 1, topK: 40, topP: 0.95 };
const request = (messages, more = {}) => ({
  model: { name: path },
  messages,
  tools: { tools: [], activations: [] },
  params: { maxTokens: tokens, ...hot, seed: 7 },
  ...more,
});

const provider = new LlamaCppProvider({ backend: "cpu", threads, contextLength, sequences: 2 });

/** Time to the first token, and of those after it. */
async function ours(asked) {
  const start = performance.now();
  let first;
  let usage;
  for await (const event of provider.stream(asked)) {
    if (event.type === "failure") throw event.error;
    if (event.type === "usage") usage = event.usage;
    if (first === undefined && event.type.endsWith("Delta")) first = performance.now();
  }
  const end = performance.now();
  return { firstMs: (first ?? end) - start, ms: end - start, usage };
}

const story = "Tell a long story about a port, a file and a number. ".repeat(4);
await ours(request([user(story)])); // loads

const llama = await getLlama({ gpu: false, build: "never", logger: () => undefined });
const bareModel = await llama.loadModel({ modelPath: path });
const bareContext = await bareModel.createContext({ contextSize: contextLength, threads });
const sequence = bareContext.getSequence();
const completion = new LlamaCompletion({ contextSequence: sequence });
const template = new ChatTemplate(bareModel.fileInfo.metadata.tokenizer.chat_template);
const tokensOf = (messages) => {
  const tools = { tools: [], activations: [] };
  return bareModel.tokenize(familyOf(template).render({ messages, tools }, template), true);
};
const prompt = tokensOf([user(story)]);

/** An answer of one token to a prompt of which nothing is evaluated: it has another beginning each time. */
function firstToken(round, which) {
  const asked = user(`${"#".repeat(round + 2)} ${story.repeat(4)}`);
  const params = { maxTokens: 1, ...hot, seed: round + 2 };
  if (which === "ours") return timed(() => ours(request([asked], { params })));
  return timed(async () => {
    await sequence.clearHistory();
    await completion.generateCompletion(tokensOf([asked]), { ...params, repeatPenalty: false });
  });
}

async function bare(seed) {
  await sequence.clearHistory();
  const clock = decoding();
  await completion.generateCompletion(prompt, {
    maxTokens: tokens,
    ...hot,
    seed,
    repeatPenalty: false,
    onTextChunk: () => undefined,
    onToken: (chunk) => clock.tokens(chunk.length),
  });
  return clock.speed();
}

async function mine(seed) {
  const clock = decoding();
  const asked = request([user(story)], { params: { maxTokens: tokens, ...hot, seed } });
  for await (const event of provider.stream(asked)) {
    if (event.type === "failure") throw event.error;
    if (event.type === "textDelta") clock.tokens(0);
    if (event.type === "usage") clock.tokens(event.usage.output); // a delta may be several tokens
  }
  return clock.speed();
}

/** Counts tokens from the second on: what came before the first is the prompt, of which we may still have a part. */
function decoding() {
  let count = -1;
  let start;
  return {
    tokens(more) {
      start ??= { at: performance.now(), cpu: process.cpuUsage() };
      count += more;
    },
    /** Of an answer that ended at once there is none. */
    speed() {
      if (count < 1) return { count, wall: Number.NaN, cpu: Number.NaN };
      const { user: inUser, system } = process.cpuUsage(start.cpu);
      const wall = (count / (performance.now() - start.at)) * 1000;
      return { count, wall, cpu: (count / (inUser + system)) * 1e6 };
    },
  };
}

const speeds = { ours: [], bare: [] };
const [speedUntil, least] = [performance.now() + share("local-generation", 0.3), quick ? 1 : 3];
for (let round = 0; round <= rounds && (round <= least || performance.now() < speedUntil); round++) {
  const first = round % 2 === 0 ? await mine(round) : undefined;
  const other = await bare(round);
  const own = first ?? (await mine(round));
  if (round === 0) continue; // warms up
  speeds.ours.push(own);
  speeds.bare.push(other);
}
const data = { model: values.model ?? "of random weights", threads, tokens };
const notes = ["Bare is LlamaCompletion of the same node-llama-cpp, with the same model, prompt and sampling."];
const shortest = 1 + Math.min(...[...speeds.ours, ...speeds.bare].map(({ count }) => count));
if (shortest < tokens)
  notes.push(`The model ends answers by itself, after ${shortest} tokens at least: take one that goes on.`);
const speedRows = [];
const KINDS = { wall: "by the clock", cpu: "by processor time" };
for (const [kind, told] of Object.entries(KINDS)) {
  const of = (which) => stat(speeds[which].map((speed) => speed[kind]).filter(Number.isFinite));
  const ratio = stat(speeds.ours.map((speed, i) => speed[kind] / speeds.bare[i][kind]).filter(Number.isFinite));
  data[kind] = { bare: of("bare"), ours: of("ours"), ratio };
  speedRows.push([told, spread(of("bare")), spread(of("ours")), spread(ratio)]);
}

const firsts = { bare: [], ours: [] };
const firstUntil = performance.now() + share("local-generation", 0.2);
for (let round = -1; round < rounds && (round < least || performance.now() < firstUntil); round++) {
  const both = {};
  for (const which of round % 2 === 0 ? ["bare", "ours"] : ["ours", "bare"])
    both[which] = await firstToken(round, which);
  if (round >= 0) for (const which of ["bare", "ours"]) firsts[which].push(both[which]); // the first warms up
}
data.firstToken = {};
const firstTokenRows = [];
for (const [kind, told] of Object.entries(KINDS)) {
  const of = (which) => stat(firsts[which].map((time) => time[kind]));
  const ratio = stat(firsts.ours.map((time, i) => time[kind] / firsts.bare[i][kind]));
  data.firstToken[kind] = { bare: of("bare"), ours: of("ours"), ratio };
  firstTokenRows.push([told, spread(of("bare")), spread(of("ours")), spread(ratio)]);
}

const firstRows = [];
data.first = [];
const conversation = [];
for (let step = 1; step <= 12; step++) {
  conversation.push(user(`Step ${step}: ${"read the file and tell the port. ".repeat(3)}`));
  const params = { maxTokens: 2, temperature: 0 };
  const kept = await ours(request([...conversation], { sessionId: "kept", params }));
  // Another beginning, or the common one would still be there.
  const anew = await ours(request([...conversation], { system: `${step}`.repeat(5), params }));
  if (step % 4 === 0) {
    const all = kept.usage.input + kept.usage.cacheRead;
    data.first.push({ step, kept: kept.firstMs, anew: anew.firstMs, evaluated: kept.usage.input, all });
    firstRows.push([
      `step ${step}`,
      number(kept.firstMs),
      number(anew.firstMs),
      number(anew.firstMs / kept.firstMs),
      `${kept.usage.input} of ${all}`,
    ]);
  }
  conversation.push(said("The port is 8417, as the file says.", step));
}

const together = [];
const togetherUntil = performance.now() + share("local-generation", 0.3);
for (let round = -1; round < rounds && (round < least || performance.now() < togetherUntil); round++) {
  const seed = round + 2;
  const ask = (sessionId) => ours(request([user(story)], { sessionId, params: { maxTokens: tokens, ...hot, seed } }));
  const inTurn = () => timed(async () => [await ask(`a${round}`), await ask(`b${round}`)]);
  const atOnce = () => timed(() => Promise.all([ask(`c${round}`), ask(`d${round}`)]));
  const first = round % 2 === 0 ? await inTurn() : undefined;
  const both = await atOnce();
  const one = first ?? (await inTurn());
  if (round >= 0) together.push({ wall: one.wall / both.wall, cpu: one.cpu / both.cpu }); // the first warms up
}
data.together = {};
const twoRows = Object.entries(KINDS).map(([kind, told]) => {
  data.together[kind] = stat(together.map((ratio) => ratio[kind]));
  return [`as fast, ${told}`, spread(data.together[kind])];
});
const promptTokens = tokensOf([user(`## ${story.repeat(4)}`)]).length;
const megabytes = number(statSync(path).size / 1e6);
const about = `${values.model ?? "a model of random weights"}, ${megabytes} MB, ${threads} thread(s)`;
report("local-generation", {
  data,
  notes,
  tables: [
    {
      key: "speed",
      title: `${tokens} tokens of ${about}: tokens a second behind the first`,
      head: ["", "bare node-llama-cpp", "@shedkit/provider-llamacpp", "ours / bare"],
      rows: speedRows,
    },
    {
      key: "first-token",
      title: `Time to the first token of a new prompt of ${promptTokens} tokens, ms`,
      head: ["", "bare node-llama-cpp", "@shedkit/provider-llamacpp", "ours / bare"],
      rows: firstTokenRows,
    },
    {
      key: "first",
      title: "Time to the first token of the nth step of a session, ms",
      head: ["", "what it has evaluated kept", "all evaluated anew", "times sooner", "tokens evaluated"],
      rows: firstRows,
    },
    { key: "two", title: "Two sessions at once beside one after the other", head: ["", "times"], rows: twoRows },
  ],
});
await provider.close();
await llama.dispose();
rmSync(folder, { recursive: true });
process.exit();
