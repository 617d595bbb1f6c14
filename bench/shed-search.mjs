import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ToolDiscovery } from "@shedkit/shed";
import { DATA, FILES, loadSets, percentile, seeded, shuffledTools } from "./lib/data.mjs";
import { embedderOf } from "./lib/embedders.mjs";
import { RANKERS, withEmbedder } from "./lib/rankers.mjs";

const { values } = parseArgs({
  options: {
    data: { type: "string", default: DATA },
    tools: { type: "string", default: "10000" },
    speed: { type: "boolean" },
    embedder: { type: "string" },
  },
});
if (!FILES.every((name) => existsSync(join(values.data, name)))) {
  console.error(
    `There is no data in ${values.data}. Get it by pnpm bench:data, or give a folder that has it: --data FOLDER.`,
  );
  process.exit(2);
}
const sets = loadSets(values.data);
if (!values.speed) await quality(values.embedder);
await speed(Number(values.tools));

/** hit@5: all tools wanted are among the first five. MRR: of the best placed tool wanted, among the first ten. */
async function quality(model) {
  const embedding = model && (await embedderOf(model));
  const rankers = { ...RANKERS, ...(embedding && { "with embedder": withEmbedder(embedding.embedder) }) };
  console.log("Quality: hit@5 / MRR");
  for (const { name, tools, queries } of sets) {
    console.log(`  ${name}: ${tools.length} tools, ${queries.length} queries`);
    for (const [ranker, make] of Object.entries(rankers)) {
      const search = await make(tools);
      const marks = [];
      for (const { query, tools: wanted } of queries) {
        const found = await search(query, 10);
        const places = wanted.map((tool) => found.indexOf(tool));
        const hit = places.every((place) => place >= 0 && place < 5);
        const first = Math.min(...places.filter((place) => place >= 0));
        marks.push({ hit, reciprocal: Number.isFinite(first) ? 1 / (first + 1) : 0 });
      }
      const halves = [0, 1].map((half) => share(marks.filter((_, i) => i % 2 === half)));
      const mrr = marks.reduce((sum, { reciprocal }) => sum + reciprocal, 0) / marks.length;
      console.log(
        `    ${ranker.padEnd(14)} ${share(marks).toFixed(3)} / ${mrr.toFixed(3)}   even lines ${halves[0].toFixed(3)}, odd lines ${halves[1].toFixed(3)}`,
      );
    }
  }
  await embedding?.close();
}

function share(marks) {
  return marks.filter(({ hit }) => hit).length / marks.length;
}

async function speed(count) {
  const given = sets.flatMap(({ tools }) => tools);
  const tools = shuffledTools(given, count, seeded(1));
  const queries = sets.flatMap((set) => set.queries.map(({ query }) => query));
  const before = memory();
  const started = performance.now();
  const discovery = new ToolDiscovery();
  for (const tool of tools) discovery.add(tool);
  await discovery.search("warm up", 5); // the index is made at the first search
  const built = performance.now() - started;
  const held = memory() - before;
  for (const query of queries.slice(0, 500)) await discovery.search(query, 5);
  const times = [];
  const processor = process.cpuUsage();
  for (const query of queries) {
    const start = performance.now();
    await discovery.search(query, 5);
    times.push(performance.now() - start);
  }
  const { user, system } = process.cpuUsage(processor);
  const changes = [];
  for (const tool of tools.slice(0, 1000)) {
    const start = performance.now();
    discovery.remove(tool.definition.name);
    discovery.add(tool);
    changes.push(performance.now() - start);
  }
  console.log(`Speed: ${count} tools, ${queries.length} queries`);
  console.log(`  search   p50 ${ms(percentile(times, 0.5))}, p99 ${ms(percentile(times, 0.99))}`);
  // Beside other programs on the same cores the clock also counts their turns.
  console.log(`  search   mean of processor time ${ms((user + system) / 1000 / queries.length)}`);
  console.log(
    `  one tool removed and added   p50 ${ms(percentile(changes, 0.5))}, p99 ${ms(percentile(changes, 0.99))}`,
  );
  console.log(`  index built in ${built.toFixed(0)} ms, holds ${(held / 2 ** 20).toFixed(1)} MB`);
}

function memory() {
  if (globalThis.gc === undefined) throw new Error("Run with node --expose-gc: memory is measured after a collection.");
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function ms(time) {
  return `${time.toFixed(3)} ms`;
}
