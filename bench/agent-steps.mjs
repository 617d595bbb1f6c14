// What a step of an agent costs beside the model: time, growth over a session, memory. node --expose-gc agent-steps.mjs
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentSession } from "@shedkit/agent";
import { ToolShed } from "@shedkit/shed";
import { KvMemoryStore, MemoryDocumentStore, SqlDocumentStore } from "@shedkit/store";
import { LibsqlStorage } from "@shedkit/store-libsql";
import { FnTool } from "@shedkit/tool";
import { cpu, heap, median } from "./lib/measure.mjs";
import { echoShed, pi, scripted, shedkit } from "./lib/steppers.mjs";

const STEPS = 800;
const ROUNDS = 15;
const WINDOW = 50;
const only = process.argv[2];
const parts = { steps, kept, long, idle };
for (const [name, part] of Object.entries(parts)) if (only === undefined || only === name) await part();

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
  console.log(`A step: an answer, a call, its result (CPU time, median of ${ROUNDS} rounds of ${STEPS} steps)`);
  for (const [name, { step, growth }] of Object.entries(times)) {
    console.log(
      `  ${name.padEnd(16)} ${median(step).toFixed(0)} us; step ${STEPS} / step 50: ${median(growth).toFixed(2)}`,
    );
  }
  const ratios = times["@shedkit/agent"].step.map((time, i) => time / times["pi-agent-core"].step[i]);
  console.log(`  ratio, paired: ${median(ratios).toFixed(2)}`);
}

async function kept() {
  console.log(`Kept over ${STEPS} steps, the session still open`);
  const db = await LibsqlStorage.open(":memory:");
  const onDisk = (count) => shedkit(count, undefined, (builder) => builder.withDocStore(new SqlDocumentStore(db)));
  const peers = { "@shedkit/agent": shedkit, "the same, its log in libsql": onDisk, "pi-agent-core": pi };
  for (const [name, make] of Object.entries(peers)) {
    const sizes = [];
    for (let round = 0; round < 4; round++) {
      const peer = await make(STEPS);
      const before = heap();
      await peer.run();
      sizes.push(heap() - before);
      await peer.end();
    }
    console.log(`  ${name.padEnd(28)} ${(median(sizes.slice(1)) / 1e6).toFixed(2)} MB`);
  }
  await db.close();
}

/** A session of 10,000 records: a step late against a step early, and how long it takes to take it up again. */
async function long() {
  const count = 1700;
  for (const kind of ["memory", "libsql"]) {
    const folder = await mkdtemp(join(tmpdir(), "shedkit-bench-"));
    const db = kind === "libsql" ? await LibsqlStorage.open(`file:${join(folder, "a.db")}`) : undefined;
    const store = db ? new SqlDocumentStore(db) : new MemoryDocumentStore();
    const withStores = (builder) => {
      const kept = builder.withDocStore(store).withSessionId("long");
      return db ? kept.withMemoryStore(new KvMemoryStore(db)) : kept;
    };
    for (let round = 0; round < 2; round++) {
      const ratios = [];
      let last;
      for (let i = 0; i < 5; i++) {
        await store.delete("long");
        const at = [];
        last = await shedkit(count, (step) => (at[step] = cpu()), withStores);
        globalThis.gc();
        await last.run();
        ratios.push((at[count] - at[count - WINDOW]) / (at[17 + WINDOW] - at[17]));
        await last.end();
      }
      if (round === 0) continue;
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
      console.log(`A session of ${records} records, ${kind}: a late step / an early one ${median(ratios).toFixed(2)}`);
      console.log(`  taken up again in ${median(times).toFixed(0)} ms, ${median(cpuTimes).toFixed(0)} ms of CPU time`);
    }
    await store.close();
    await db?.close();
    await rm(folder, { recursive: true });
  }
}

async function idle() {
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
    console.log(`5000 idle sessions with ${name}: ${((await idleOf(builder, 5000)) / 1000).toFixed(1)} KB each`);
  }
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
