// The search behind `shed`: what it finds, beside the searches of others, and how fast it is.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ToolDiscovery } from "@shedkit/shed";
import { DATA, FILES, loadSets, percentile, seeded, shuffledTools } from "./lib/data.mjs";
import { embedderOf } from "./lib/embedders.mjs";
import { cpu, heap, stat } from "./lib/measure.mjs";
import { RANKERS, withEmbedder } from "./lib/rankers.mjs";
import { number, quick, report, spread } from "./lib/report.mjs";
import { share } from "./lib/shares.mjs";

const { values } = parseArgs({
  options: {
    data: { type: "string", default: DATA },
    embedder: { type: "string" },
    quick: { type: "boolean" },
  },
});
if (!FILES.every((name) => existsSync(join(values.data, name)))) {
  console.error(
    `There is no data in ${values.data}. Get it by pnpm bench:data, or give a folder that has it: --data FOLDER.`,
  );
  process.exit(2);
}
const OURS = "@shedkit/shed";
const sets = loadSets(values.data);
const COUNTS = [100, 1000, 10_000];
/** Searches of each at least. */
const LEAST = 3;
const found = await quality();
const data = { quality: found, speed: {} };
if (!values.embedder) {
  for (const count of COUNTS) data.speed[count] = await speed(count);
  data.index = await index(10_000);
}

const names = Object.keys(found);
report(values.embedder ? "shed-search-embedder" : "shed-search", {
  data,
  notes: [
    "hit@5: all tools that answer a query are among the first five. MRR: of the best placed of them, among the first ten.",
    "Weights of ours were chosen on the even lines of the first MetaTool set and of BFCL.",
    "The time of ai's search is that of a whole generateText around it: it cannot be called alone.",
  ],
  tables: [
    {
      key: "quality",
      title: "What is found: hit@5 / MRR (1 is best)",
      head: [
        "",
        ...sets.map(({ name, tools, queries }) => `${name}: ${tools.length} tools, ${queries.length} queries`),
      ],
      rows: names.map((name) => [name, ...found[name].map(({ hit, mrr }) => `${hit.toFixed(3)} / ${mrr.toFixed(3)}`)]),
    },
    {
      key: "halves",
      title: `hit@5 of ${OURS} on even and odd lines`,
      head: ["", ...sets.map(({ name }) => name)],
      rows: names
        .filter((name) => name === OURS || name.includes("embedder"))
        .map((name) => [name, ...found[name].map(({ even, odd }) => `${even.toFixed(3)}, ${odd.toFixed(3)}`)]),
    },
    ...(values.embedder ? [] : speedTables()),
  ],
});
process.exit();

function speedTables() {
  return [
    {
      key: "speed",
      title: "A search, ms (less is better)",
      head: [
        "",
        ...COUNTS.map((count) => `${count.toLocaleString("en")} tools`),
        "10,000 beside ours",
        "p99 of 10,000",
      ],
      rows: Object.keys(RANKERS).map((name) => [
        name,
        ...COUNTS.map((count) => spread(data.speed[count][name])),
        number(data.speed[10_000][name]?.ratio),
        number(data.speed[10_000][name]?.p99),
      ]),
    },
    {
      key: "index",
      title: `The index of ${OURS} with 10,000 tools`,
      head: ["", "measured"],
      rows: [
        ["a search, CPU, ms", number(data.index.cpu)],
        ["one tool removed and added again, ms", number(data.index.change)],
        ["built at the first search, with the words that it knows, CPU, ms", number(data.index.built)],
        ["held, MB", number(data.index.held)],
      ],
    },
  ];
}

async function quality() {
  const embedding = values.embedder && (await embedderOf(values.embedder));
  const rankers = embedding ? { [OURS]: RANKERS[OURS], "with embedder": withEmbedder(embedding.embedder) } : RANKERS;
  const marks = {};
  for (const [name, make] of Object.entries(rankers)) {
    marks[name] = [];
    for (const { tools, queries } of sets) {
      const search = await make(tools);
      const own = [];
      for (const [i, { query, tools: wanted }] of queries.entries()) {
        if (quick && i % 16 > 1) continue; // an even line and an odd one of sixteen
        const ranked = await search(query, 10);
        const places = wanted.map((tool) => ranked.indexOf(tool));
        const first = Math.min(...places.filter((place) => place >= 0));
        own.push({
          hit: places.every((place) => place >= 0 && place < 5),
          reciprocal: Number.isFinite(first) ? 1 / (first + 1) : 0,
          even: i % 2 === 0,
        });
      }
      const mrr = own.reduce((sum, { reciprocal }) => sum + reciprocal, 0) / own.length;
      marks[name].push({
        ...{
          hit: hitShare(own),
          mrr,
          even: hitShare(own.filter(({ even }) => even)),
          odd: hitShare(own.filter(({ even }) => !even)),
        },
      });
    }
  }
  await embedding?.close();
  return marks;
}

function hitShare(marks) {
  return marks.filter(({ hit }) => hit).length / marks.length;
}

/** Each query to all of them in turn, over tools made of the words of real ones. */
async function speed(count) {
  const given = sets.flatMap(({ tools }) => tools);
  const tools = shuffledTools(given, count, seeded(1));
  const queries = sets.flatMap((set) => set.queries.map(({ query }) => query));
  const searches = [];
  for (const [name, make] of Object.entries(RANKERS))
    searches.push({ name, search: await make(tools), times: [], spent: 0 });
  // Milliseconds that each may spend: the slow ones answer fewer queries. A tenth of it warms up.
  const budget = share("shed-search", 0.4) / COUNTS.length / searches.length;
  for (let i = -20; i < (quick ? 100 : 2000); i++) {
    for (const each of searches) {
      if (each.spent > (i < 0 ? budget / 10 : budget) && (i < 0 || each.times.length >= LEAST)) continue;
      const start = performance.now();
      await each.search(queries[(i + 20) % queries.length], 5);
      const time = performance.now() - start;
      each.spent += time;
      if (i >= 0) each.times[i] = time;
    }
  }
  const ours = searches.find(({ name }) => name === OURS).times;
  return Object.fromEntries(
    searches.map(({ name, times }) => {
      const ratios = times.map((time, i) => time / ours[i]).filter(Number.isFinite);
      const own = times.filter(Number.isFinite);
      return [name, { ...stat(own), p99: percentile(own, 0.99), ratio: stat(ratios)?.median }];
    }),
  );
}

async function index(count) {
  const tools = shuffledTools(
    sets.flatMap(({ tools: given }) => given),
    count,
    seeded(1),
  );
  const queries = sets.flatMap((set) => set.queries.map(({ query }) => query)).slice(0, quick ? 300 : 2000);
  const before = heap();
  const started = cpu();
  const discovery = new ToolDiscovery();
  for (const tool of tools) discovery.add(tool);
  await discovery.search("warm up", 5); // the index is made at the first search
  const built = (cpu() - started) / 1000;
  const held = (heap() - before) / 2 ** 20;
  const startCpu = cpu();
  for (const query of queries) await discovery.search(query, 5);
  const used = (cpu() - startCpu) / 1000 / queries.length;
  const changes = [];
  for (const tool of tools.slice(0, 1000)) {
    const start = performance.now();
    discovery.remove(tool.definition.name);
    discovery.add(tool);
    changes.push(performance.now() - start);
  }
  return { cpu: used, change: percentile(changes, 0.5), built, held };
}
