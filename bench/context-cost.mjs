// What tools cost of a prompt: the first request, a task of ten steps, and how much of it comes from the cache.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { taskOf } from "./lib/context/task.mjs";
import { DATA, FILES, loadSets } from "./lib/data.mjs";
import { median } from "./lib/measure.mjs";
import { PEERS } from "./lib/peers.mjs";
import { number, quick, report, wantedOf } from "./lib/report.mjs";
import { startServer } from "./lib/server/start.mjs";
import { startWorker } from "./lib/workers.mjs";

if (!FILES.every((name) => existsSync(join(DATA, name)))) {
  console.error("The tools come from public data. Get it by: pnpm bench:data");
  process.exit(2);
}
const COUNTS = [10, 100, 500];
const SEEDS = quick ? [1] : [1, 2, 3];
const WIRES = { anthropic: "claude-sonnet-4-6", responses: "gpt-5.4", chat: "gpt-5.4" };
const TITLES = { anthropic: "Anthropic Messages", responses: "OpenAI Responses", chat: "OpenAI Chat Completions" };
/** Each in the way that its documentation has for many tools. */
const WAYS = {
  "@shedkit/agent": ["@shedkit/agent", { native: true }],
  "@shedkit/agent, callByName": ["@shedkit/agent", { native: true, byName: true }],
  "ai, toolSearch": ["ai", { search: true }],
  "@mastra/core, ToolSearchProcessor": ["@mastra/core", { search: true }],
  "@tanstack/ai, lazy tools": ["@tanstack/ai", { search: true }],
  "ai, all declared": ["ai", {}],
  "pi-agent-core, all declared": ["pi-agent-core", {}],
  "@openai/agents, all declared": ["@openai/agents", {}],
  "langchain, all declared": ["langchain", {}],
  "@strands-agents/sdk, all declared": ["@strands-agents/sdk", {}],
};
const [set] = loadSets(DATA).filter(({ name }) => name === "BFCL");
const server = await startServer();
const data = {};
const notes = [];
for (const way of wantedOf(Object.keys(WAYS))) {
  const [peer, options] = WAYS[way];
  const worker = await startWorker(new URL("./jobs/context.mjs", import.meta.url).href);
  for (const wire of Object.keys(WIRES)) {
    if (!PEERS[peer].wires.includes(wire)) continue;
    for (const count of COUNTS)
      for (const seed of SEEDS) await measure({ worker, wire, count, seed, way, peer, options });
  }
  worker.end();
}
server.end();
for (const fault of server.faults) notes.push(`The server failed: ${fault}`);

async function measure({ worker, wire, count, seed, way, peer, options }) {
  const task = taskOf(set, count, seed);
  const script = `task-${wire}-${count}-${seed}-${way}`;
  await server.script(script, new URL("./lib/context/model.mjs", import.meta.url), { steps: task.steps });
  try {
    await worker.call("run", { peer, wire, url: server.url(script), model: WIRES[wire], task, options });
    const requests = await server.take(script);
    const sum = (key) => requests.reduce((all, request) => all + request[key], 0);
    data[wire] ??= {};
    data[wire][way] ??= {};
    data[wire][way][count] ??= [];
    data[wire][way][count].push({
      ...{ requests: requests.length, first: requests[0].input, input: sum("input"), cacheRead: sum("cacheRead") },
      ...{ anew: sum("input") - sum("cacheRead"), own: requests.filter(({ own }) => own).length },
      missed: requests.findLast(({ own }) => !own).missed,
      each: requests.map(({ input, cacheRead }) => ({ input, cacheRead })),
    });
  } catch (fault) {
    notes.push(`${way}, ${wire}, ${count} tools failed: ${fault.message.split("\n")[0]}`);
  }
}

const of = (wire, way, count, key) => median((data[wire]?.[way]?.[count] ?? []).map((task) => task[key]));
const ways = (wire) => Object.keys(WAYS).filter((way) => data[wire]?.[way]);
const share = (wire, way, count) =>
  `${Math.round((100 * of(wire, way, count, "cacheRead")) / of(wire, way, count, "input"))} %`;
report("context-cost", {
  data,
  notes,
  tables: [
    ...Object.keys(WIRES).map((wire) => ({
      key: wire,
      title: `${TITLES[wire]}: tokens of prompts (o200k_base), ${SEEDS.length === 1 ? "one task" : `median of ${SEEDS.length} tasks`}`,
      head: [
        "",
        ...COUNTS.map((count) => `${count} tools: first request`),
        ...COUNTS.map((count) => `${count} tools: the task, all / not from the cache`),
        "500 tools: from the cache (more is better)",
        "requests / of the session's own",
        "not found of 10",
      ],
      rows: ways(wire).map((way) => [
        way,
        ...COUNTS.map((count) => number(of(wire, way, count, "first"))),
        ...COUNTS.map((count) => `${number(of(wire, way, count, "input"))} / ${number(of(wire, way, count, "anew"))}`),
        share(wire, way, 500),
        `${of(wire, way, 500, "requests")} / ${of(wire, way, 500, "own")}`,
        `${of(wire, way, 500, "missed")}`,
      ]),
    })),
  ],
});
process.exit();
