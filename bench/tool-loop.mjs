// What a step (an answer, a call of a tool, its result) costs in process, beside a model that costs nearly nothing.
import { median } from "./lib/measure.mjs";
import { OURS, PEERS } from "./lib/peers.mjs";
import { number, quick, report, spread, wantedOf } from "./lib/report.mjs";
import { figures, inTurn } from "./lib/rounds.mjs";
import { share } from "./lib/shares.mjs";
import { startWorkers } from "./lib/workers.mjs";

const LENGTHS = [50, 200, 800];
const SHORT = 50;
/** Of the share, what each length may take. */
const PARTS = { 50: 0.07, 200: 0.2, 800: 0.45 };
const [ROUNDS, WARM, LEAST] = quick ? [3, 0, 2] : [11, 2, 3];
/** One loop may take so long; who needs a quarter of it runs once, who would need more is left out. */
const PATIENCE_MS = quick ? 6000 : 40_000;
/** Each runs short loops for so much CPU time: before everything, and before each loop that is measured. */
const [FIRST_MS, WARM_MS] = quick ? [800, 150] : [5000, 500];

const names = wantedOf(Object.keys(PEERS), OURS);
const workers = await startWorkers(names, new URL("./jobs/loop.mjs", import.meta.url).href, (worker, peer) =>
  worker.call("begin", { peer }),
);
const notes = [];
const data = {};

// So long that the engine has compiled what it will compile.
const pace = {};
const growth = {};
for (const name of names) pace[name] = await warmUp(name, FIRST_MS);

/** Runs short loops until they have taken so much CPU time. Gives the milliseconds of a step in the last one. */
async function warmUp(name, ms) {
  for (let spent = 0; ; ) {
    const { wall, cpu } = await workers[name].call("steps", { count: SHORT });
    spent += cpu * SHORT;
    if (spent >= ms) return wall;
  }
}

for (const count of LENGTHS) {
  const expected = (name) => pace[name] * count * (growth[name] ?? 1);
  const able = names.filter((name) => expected(name) < PATIENCE_MS);
  const slow = able.filter((name) => expected(name) > PATIENCE_MS / 4);
  for (const name of names)
    if (!able.includes(name)) notes.push(`${name}: ${count} steps take longer than is waited for here.`);
  const memory = count === LENGTHS.at(-1);
  const ask = async (name, round) => {
    // Who is slow does not warm up, and is asked once for all.
    if (slow.includes(name)) return round < 0 ? undefined : workers[name].call("steps", { count, memory });
    // While the others were asked the engine has dropped what it had compiled: as in a process in use, it has it again.
    await warmUp(name, WARM_MS);
    return workers[name].call("steps", { count });
  };
  const { got, faults } = await inTurn(able, ROUNDS, ask, {
    ...{ warm: WARM, least: LEAST },
    ms: share("tool-loop", PARTS[count]),
    patience: PATIENCE_MS / 4,
  });
  for (const [name, fault] of Object.entries(faults)) notes.push(`${name}, ${count} steps, failed: ${fault}`);
  for (const [name, rounds] of Object.entries(got)) {
    const walls = rounds.map(({ wall }) => wall);
    if (walls.length === 0) continue;
    growth[name] = Math.max(1, median(walls) / pace[name]);
    pace[name] = median(walls);
  }
  const kept = {};
  for (const name of able)
    if (memory && !slow.includes(name))
      kept[name] = await workers[name].call("steps", { count, memory }).catch(() => ({}));
  data[count] = {
    cpu: figures(got, "cpu", OURS),
    wall: figures(got, "wall", OURS),
    growth: figures(got, "growth", OURS),
    kept: Object.fromEntries(able.map((name) => [name, (kept[name] ?? got[name][0])?.held])),
  };
}

data.peak = {};
for (const name of names) data.peak[name] = await workers[name].call("peak");
const { got, faults } = await inTurn(names, quick ? 2 : 9, (name) => workers[name].call("parallel"), {
  ...{ warm: quick ? 0 : 1, least: LEAST },
  ms: share("tool-loop", 0.1),
});
for (const [name, fault] of Object.entries(faults)) notes.push(`${name}, calls side by side, failed: ${fault}`);
data.parallel = { wall: figures(got, "wall", OURS), cpu: figures(got, "cpu", OURS) };
for (const worker of Object.values(workers)) worker.end();

const of = (count, key, name) => data[count][key][name];
report("tool-loop", {
  data,
  notes,
  tables: [
    {
      key: "steps",
      title: "A step in process: CPU time, ms (less is better)",
      head: [
        "",
        ...LENGTHS.map((count) => `${count} steps`),
        "800 beside ours",
        "late step / early",
        "kept after 800, MB",
        "peak of the process, MB",
      ],
      rows: names.map((name) => [
        name,
        ...LENGTHS.map((count) => spread(of(count, "cpu", name))),
        number(of(800, "cpu", name)?.ratio),
        number(of(800, "growth", name)?.median),
        number(of(800, "kept", name)),
        number(data.peak[name]),
      ]),
    },
    {
      key: "parallel",
      title: "Ten steps with eight calls each, every call 20 ms (at best 200 ms): wall time, ms (less is better)",
      head: ["", "wall", "beside ours", "CPU"],
      rows: names.map((name) => [
        name,
        spread(data.parallel.wall[name]),
        number(data.parallel.wall[name]?.ratio),
        spread(data.parallel.cpu[name]),
      ]),
    },
  ],
});
process.exit();
