// A long session over a real store: what a step costs as it grows, and what it takes to take it up again.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stat } from "./lib/measure.mjs";
import { number, quick, report } from "./lib/report.mjs";
import { startWorker } from "./lib/workers.mjs";

const STEPS = 20; // of a turn
const TOTAL = quick ? 400 : 2000;
const PARTS = quick ? 4 : 10;
/** Who takes longer than that for a part does not go on. */
const PATIENCE_MS = quick ? 10_000 : 60_000;
const KEEPERS = [
  "@shedkit/agent, libsql",
  "@shedkit/agent, level",
  "@shedkit/agent, JSON lines",
  "@shedkit/agent, in memory",
  "langchain, SqliteSaver",
  "@mastra/core, LibSQLStore",
  "@strands-agents/sdk, files",
];
const job = new URL("./jobs/session.mjs", import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), "shedkit-bench-"));
const data = {};
const notes = ["pi-agent-core, ai and @tanstack/ai bring no store; @openai/agents brings one in memory."];

const workers = {};
for (const [i, keeper] of KEEPERS.entries()) {
  workers[keeper] = await startWorker(job);
  const place = join(folder, `${i}`);
  await workers[keeper].call("begin", { keeper, folder: place });
  await workers[keeper].call("turns", { count: 1 }); // compiles
  data[keeper] = { folder: place, parts: [], turns: 1 };
}
// A part of each in turn, so that what the machine does meanwhile meets all.
const perPart = TOTAL / PARTS / STEPS;
for (let part = 0; part < PARTS; part++) {
  for (const keeper of KEEPERS) {
    const own = data[keeper];
    if (own.stopped) continue;
    const start = performance.now();
    try {
      own.parts.push(await workers[keeper].call("turns", { count: perPart }, { limitMs: 4 * PATIENCE_MS }));
      own.turns += perPart;
    } catch (fault) {
      own.stopped = `${keeper} stopped after ${own.turns * STEPS} steps: ${fault.message.split("\n")[0]}`;
      own.dead = true;
    }
    if (!own.dead && part < PARTS - 1 && performance.now() - start > PATIENCE_MS)
      own.stopped = `${keeper} was stopped after ${own.turns * STEPS} steps, when ${perPart * STEPS} took ${number((performance.now() - start) / 1000)} s.`;
    if (own.stopped) notes.push(own.stopped);
  }
}
for (const keeper of KEEPERS) {
  const own = data[keeper];
  if (own.dead) continue;
  own.disk = await workers[keeper].call("size", { folder: own.folder });
  own.peak = await workers[keeper].call("end");
  workers[keeper].end();
}
// A new process each time, as after a restart.
for (let round = 0; round < (quick ? 2 : 5); round++) {
  for (const keeper of KEEPERS) {
    const own = data[keeper];
    if (own.dead || keeper.endsWith("in memory")) continue;
    const worker = await startWorker(job);
    const opened = await worker.call("begin", { keeper, folder: own.folder, turns: own.turns });
    const asked = await worker.call("ask");
    own.resume ??= [];
    own.resume.push({ wall: opened.wall + asked.toModel, cpu: opened.cpu, seen: asked.seen });
    await worker.call("end");
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
        "CPU a step, ms: first part",
        "last part",
        "last / first",
        "wall a step: last part, ms",
        "heap: first part, MB",
        "last part",
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
          number(last?.wall),
          number(first?.heap),
          number(last?.heap),
          number(disk),
          number(resume && stat(resume.map(({ wall }) => wall)).median),
          number(resume?.at(-1).seen),
        ];
      }),
    },
  ],
});
process.exit();
