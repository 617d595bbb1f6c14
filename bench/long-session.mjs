// A long session over a real store: what a step costs as it grows, and what it takes to take it up again.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stat } from "./lib/measure.mjs";
import { number, quick, report, spread, wantedOf } from "./lib/report.mjs";
import { inTurn } from "./lib/rounds.mjs";
import { share } from "./lib/shares.mjs";
import { startWorker, startWorkers } from "./lib/workers.mjs";

const STEPS = 20; // of a turn
const [TOTAL, PARTS] = quick ? [300, 3] : [2000, 10];
/** Who would need more for all parts, or has written more, does not go on. */
const PATIENCE_MS = share("long-session", 0.2);
const MOST_MB = 2000;
const OURS = "@shedkit/agent, libsql";
const KEEPERS = wantedOf(
  [
    OURS,
    "@shedkit/agent, level",
    "@shedkit/agent, JSON lines",
    "@shedkit/agent, in memory",
    "langchain, SqliteSaver",
    "@mastra/core, LibSQLStore",
    "@strands-agents/sdk, files",
  ],
  OURS,
);
const job = new URL("./jobs/session.mjs", import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), "shedkit-bench-"));
const data = {};
const notes = ["pi-agent-core, ai and @tanstack/ai bring no store; @openai/agents brings one in memory."];

const workers = await startWorkers(KEEPERS, job, async (worker, keeper) => {
  const place = join(folder, `${KEEPERS.indexOf(keeper)}`);
  await worker.call("begin", { keeper, folder: place });
  await worker.call("turns", { count: 1 }); // compiles
  data[keeper] = { folder: place, parts: [], turns: 1, spent: 0 };
});
// A part of each in turn, so that what the machine does meanwhile meets all.
const perPart = TOTAL / PARTS / STEPS;
for (let part = 0; part < PARTS; part++) {
  for (const keeper of KEEPERS) {
    const own = data[keeper];
    if (own.stopped) continue;
    const start = performance.now();
    try {
      own.parts.push(await workers[keeper].call("turns", { count: perPart }, { limitMs: 2 * PATIENCE_MS }));
      own.turns += perPart;
      own.disk = await workers[keeper].call("size", { folder: own.folder });
    } catch (fault) {
      own.stopped = `${keeper} stopped after ${own.turns * STEPS} steps: ${fault.message.split("\n")[0]}`;
      own.dead = true;
    }
    const took = performance.now() - start;
    own.spent += took;
    const left = part < PARTS - 1;
    if (!own.dead && left && (own.spent + took > PATIENCE_MS || own.disk > MOST_MB))
      own.stopped = `${keeper} was stopped after ${(own.turns * STEPS).toLocaleString("en")} steps: the last ${perPart * STEPS} took ${number(took / 1000)} s, and its store has ${number(own.disk)} MB.`;
    if (own.stopped) notes.push(own.stopped);
  }
}
for (const keeper of KEEPERS) {
  const own = data[keeper];
  if (own.dead) continue;
  own.peak = await workers[keeper].call("end");
  workers[keeper].end();
}
// A new process each time, as after a restart.
const kept = KEEPERS.filter((keeper) => !data[keeper].dead && !keeper.endsWith("in memory"));
const { got, faults } = await inTurn(kept, quick ? 2 : 5, takenUp, {
  ...{ warm: 0, least: quick ? 1 : 3 },
  ms: share("long-session", 0.2),
});
for (const [keeper, fault] of Object.entries(faults)) notes.push(`${keeper}, taken up again, failed: ${fault}`);
for (const keeper of kept) data[keeper].resume = got[keeper];

async function takenUp(keeper) {
  const { folder, turns } = data[keeper];
  const worker = await startWorker(job);
  try {
    const opened = await worker.call("begin", { keeper, folder, turns });
    const asked = await worker.call("ask");
    await worker.call("end");
    return { wall: opened.wall + asked.toModel, cpu: opened.cpu, seen: asked.seen };
  } finally {
    worker.end();
  }
}
for (const worker of Object.values(workers)) worker.end();
rmSync(folder, { recursive: true, force: true });

report("long-session", {
  data,
  notes,
  tables: [
    {
      key: "steps",
      title: `A session of ${TOTAL.toLocaleString("en")} steps in turns of ${STEPS}, over a store`,
      head: [
        "",
        "steps",
        "CPU a step, ms: first tenth",
        "last tenth",
        "last / first",
        "last tenth beside ours, libsql",
        "wall a step, ms: last tenth",
        "heap, MB: first tenth",
        "last tenth",
        "store, MB",
        "taken up again, ms",
        "messages then",
      ],
      rows: KEEPERS.map((keeper) => {
        const { parts, turns, disk, resume } = data[keeper];
        const [first, last] = [parts.at(0), parts.at(-1)];
        return [
          keeper,
          (turns * STEPS).toLocaleString("en"),
          number(first?.cpu),
          number(last?.cpu),
          number(last && last.cpu / first.cpu),
          number(last?.cpu / data[OURS].parts.at(-1)?.cpu),
          number(last?.wall),
          number(first?.heap),
          number(last?.heap),
          number(disk),
          spread(stat((resume ?? []).map(({ wall }) => wall))),
          number(resume?.at(-1)?.seen),
        ];
      }),
    },
  ],
});
process.exit();
