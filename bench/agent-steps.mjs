// What a step of an agent costs beside the model: time, growth over a session, memory. node --expose-gc agent-steps.mjs
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentSession } from "@shedkit/agent";
import { ToolShed } from "@shedkit/shed";
import { KvMemoryStore, MemoryDocumentStore, SqlDocumentStore } from "@shedkit/store";
import { LibsqlStorage } from "@shedkit/store-libsql";
import { FnTool } from "@shedkit/tool";
import { AgenticError } from "@shedkit/types";
import { cpu, heap, median, stat } from "./lib/measure.mjs";
import { number, quick, report, spread, wantedOf } from "./lib/report.mjs";
import { share } from "./lib/shares.mjs";
import { echoShed, pi, scripted, shedkit } from "./lib/steppers.mjs";

const STEPS = 800;
const ROUNDS = quick ? 4 : 11;
const WINDOW = 50;
let db;
const onDisk = async (count) => {
  db ??= await LibsqlStorage.open(":memory:");
  return shedkit(count, undefined, (builder) => builder.withDocStore(new SqlDocumentStore(db)));
};
const keepers = { "@shedkit/agent": shedkit, "the same, its log in libsql": onDisk, "pi-agent-core": pi };
const tables = [];
const data = {};
const parts = { steps, kept, memory, long, idle };
if (process.argv[2] === "keeper") {
  await keeper(process.argv[3]);
} else {
  for (const name of wantedOf(Object.keys(parts))) await parts[name]();
  report("agent-steps", { tables, data });
}
await db?.close();

/** Both in turn, so that what the machine does meanwhile meets both. */
async function steps() {
  const peers = { "@shedkit/agent": shedkit, "pi-agent-core": pi };
  const times = Object.fromEntries(Object.keys(peers).map((name) => [name, { step: [], growth: [] }]));
  // One of each stays, as in a process that serves several: else the engine forgets, with the last of them, what it knew.
  const others = [];
  for (const make of Object.values(peers)) others.push(await make(WINDOW));
  for (const other of others) await other.run();
  for (let round = -3; round < ROUNDS; round++) {
    for (const [name, make] of Object.entries(peers)) {
      const at = [];
      const peer = await make(STEPS, (i) => {
        at[i] = cpu();
      });
      globalThis.gc();
      const start = cpu();
      await peer.run();
      const end = cpu();
      await peer.end();
      if (round < 0) continue;
      times[name].step.push((end - start) / STEPS);
      times[name].growth.push((at[STEPS] - at[STEPS - WINDOW]) / (at[25 + WINDOW] - at[25]));
    }
  }
  for (const other of others) await other.end();
  const ratios = times["@shedkit/agent"].step.map((time, i) => time / times["pi-agent-core"].step[i]);
  data.steps = { ratio: stat(ratios) };
  for (const [name, { step, growth }] of Object.entries(times))
    data.steps[name] = { step: stat(step), growth: stat(growth) };
  tables.push({
    key: "steps",
    title: `A step: an answer, a call, its result (both in one process, ${ROUNDS} rounds of ${STEPS} steps)`,
    head: ["", "CPU, us", "beside pi-agent-core", `step ${STEPS} / step 50`],
    rows: Object.entries(times).map(([name, { step, growth }]) => [
      name,
      spread(stat(step)),
      name === "pi-agent-core" ? "1" : spread(stat(ratios)),
      number(median(growth)),
    ]),
  });
}

/**
 * What one more session keeps, all before it still open, in a process of its own without a compiler: the machine code that
 * the engine makes meanwhile, once for all sessions, is no part of any of them.
 */
async function kept() {
  data.kept = {};
  for (const name of Object.keys(keepers)) {
    const flags = ["--expose-gc", "--no-opt", "--no-maglev", "--no-sparkplug"];
    const child = spawnSync(process.execPath, [...flags, import.meta.filename, "keeper", name], { encoding: "utf8" });
    if (child.status !== 0) throw new Error(child.stderr);
    data.kept[name] = JSON.parse(child.stdout);
  }
  tables.push({
    key: "kept",
    title: `Kept over ${STEPS} steps, the session still open`,
    head: ["", "MB"],
    rows: Object.entries(data.kept).map(([name, size]) => [name, spread(size)]),
  });
}

async function keeper(name) {
  const open = [];
  const sizes = [];
  for (let round = 0; round < 8; round++) {
    const peer = await keepers[name](STEPS);
    const before = heap();
    await peer.run();
    sizes.push(heap() - before);
    open.push(peer);
  }
  console.log(JSON.stringify(stat(sizes.slice(3).map((size) => size / 1e6))));
  for (const peer of open) await peer.end();
}

/** How much later an answer comes where the memory model has work to do and does not come to an end with it, or fails. */
async function memory() {
  const hangs = async function* ({ signal }) {
    yield { type: "start", warnings: [] };
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
  };
  const details = { kind: "server", provider: "scripted", model: "memory" };
  const fails = async function* () {
    yield { type: "failure", error: new AgenticError("generation", "It is down.", details) };
  };
  data.memory = {};
  for (const [name, stream] of Object.entries({ hangs, fails })) {
    const late = [];
    for (let round = -5; round < 2 * ROUNDS; round++) {
      const [first, second] = round % 2 === 0 ? [0, 1] : [1, 0]; // what triggers the memory; 0 never does
      const times = {
        [first]: await answerBehind(200, stream, first),
        [second]: await answerBehind(200, stream, second),
      };
      if (round >= 0) late.push(times[1] - times[0]);
    }
    data.memory[name] = stat(late);
  }
  tables.push({
    key: "memory",
    title: "How much later an answer comes behind 200 steps that the memory model has to look at, while that model",
    head: ["", "ms"],
    rows: Object.entries(data.memory).map(([name, time]) => [name, spread(time)]),
  });
}

/** How long an answer takes, in milliseconds, in a session of so many steps that is taken up again. */
async function answerBehind(count, remember, observationTriggerTokens) {
  const main = scripted(count);
  const stream = (request) => (request.model.name === "memory" ? remember(request) : main.stream());
  const builder = AgentSession.builder({ ...main, stream })
    .withModel("m")
    .withMemoryModel("memory")
    .withToolshed(echoShed())
    .withDocStore(new MemoryDocumentStore())
    .withSessionId("behind");
  const before = await builder.withMemoryConfig({ observationTriggerTokens: 0 }).build();
  await before.runTurn("Go", { maxSteps: count + 1 });
  await before.end();
  const session = await builder.withMemoryConfig({ observationTriggerTokens }).build();
  const start = performance.now();
  await session.runTurn("Go on");
  const time = performance.now() - start;
  await session.end();
  return time;
}

/** A session of 10,000 records: a step late against a step early, and how long it takes to take it up again. */
async function long() {
  const count = quick ? 500 : 1700;
  const rows = [];
  data.long = {};
  for (const kind of ["memory", "libsql"]) {
    const folder = await mkdtemp(join(tmpdir(), "shedkit-bench-"));
    const db = kind === "libsql" ? await LibsqlStorage.open(`file:${join(folder, "a.db")}`) : undefined;
    const store = db ? new SqlDocumentStore(db) : new MemoryDocumentStore();
    const withStores = (builder) => {
      const kept = builder.withDocStore(store).withSessionId("long");
      return db ? kept.withMemoryStore(new KvMemoryStore(db)) : kept;
    };
    const ratios = [];
    const until = performance.now() + share("agent-steps", 0.2);
    // The first warms up, where there is time for more.
    for (let i = 0; i < (quick ? 2 : 6) && (i < 2 || performance.now() < until); i++) {
      await store.delete("long");
      const at = [];
      const session = await shedkit(count, (step) => (at[step] = cpu()), withStores);
      globalThis.gc();
      await session.run();
      ratios.push((at[count] - at[count - WINDOW]) / (at[17 + WINDOW] - at[17]));
      await session.end();
    }
    const times = [];
    const cpuTimes = [];
    let records = 0;
    for (let i = 0; i < 7; i++) {
      const builder = AgentSession.builder(scripted(0)).withModel("m").withToolshed(echoShed());
      const start = performance.now();
      const cpuStart = cpu();
      const session = await withStores(builder).build();
      times.push(performance.now() - start);
      cpuTimes.push((cpu() - cpuStart) / 1000);
      await session.end();
    }
    for await (const { seq } of store.read("long", { last: 1 })) records = seq;
    data.long[kind] = { records, growth: stat(ratios.slice(1)), wall: stat(times), cpu: stat(cpuTimes) };
    const { growth, wall, cpu: used } = data.long[kind];
    rows.push([`${records.toLocaleString("en")} records, ${kind}`, number(growth.median), spread(wall), spread(used)]);
    await store.close();
    await db?.close();
    await rm(folder, { recursive: true });
  }
  const head = ["", "a late step / an early one", "taken up again, ms", "of CPU time"];
  tables.push({ key: "long", title: "A long session", head, rows });
}

async function idle() {
  const count = quick ? 1000 : 5000;
  const rows = [];
  data.idle = {};
  const schema = (i) => ({
    type: "object",
    properties: { path: { type: "string", description: `The path of thing ${i}` }, limit: { type: "integer" } },
    required: ["path"],
  });
  const tools = Array.from(
    { length: 10 },
    (_, i) => new FnTool(`tool_${i}`, `Does thing number ${i} to a file.`, schema(i), async () => ""),
  );
  for (const [name, shed] of [
    ["no tools", new ToolShed()],
    ["10 tools", new ToolShed().tools(tools)],
  ]) {
    const builder = AgentSession.builder(scripted(0)).withModel("m").withToolshed(shed);
    data.idle[name] = (await idleOf(builder, count)) / 1000;
    rows.push([name, number(data.idle[name])]);
  }
  tables.push({ key: "idle", title: `${count.toLocaleString("en")} idle sessions: KB each`, head: ["", "KB"], rows });
}

async function idleOf(builder, count) {
  for (let i = 0; i < 100; i++) await (await builder.build()).end();
  const sessions = [];
  const before = heap();
  for (let i = 0; i < count; i++) sessions.push(await builder.build());
  const each = (heap() - before) / count;
  for (const session of sessions) await session.end();
  return each;
}
