// Many sessions in one process, and what the stores cost.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OURS, PEERS } from "./lib/peers.mjs";
import { number, quick, report, spread, wantedOf } from "./lib/report.mjs";
import { figures, inTurn } from "./lib/rounds.mjs";
import { share } from "./lib/shares.mjs";
import { startWorkers } from "./lib/workers.mjs";

const [AT_ONCE, IDLE, RECORDS, ROUNDS] = quick ? [100, 500, 1000, 2] : [1000, 5000, 10_000, 3];
const notes = [];
const names = wantedOf(Object.keys(PEERS), OURS);

async function all(job, args, rounds, options) {
  const workers = await startWorkers(names, new URL("./jobs/sessions.mjs", import.meta.url).href, (worker, peer) =>
    worker.call("begin", { peer }),
  );
  const { got, faults } = await inTurn(names, rounds, (name, round) => workers[name].call(job, args(round)), options);
  for (const worker of Object.values(workers)) worker.end();
  for (const [name, fault] of Object.entries(faults)) notes.push(`${name}, ${job}, failed: ${fault}`);
  return got;
}

// A tenth of them warm up.
const turns = (round) => ({ count: round < 0 ? AT_ONCE / 10 : AT_ONCE });
const together = await all("concurrent", turns, ROUNDS, {
  least: 2,
  ms: share("sessions", 0.4),
  patience: share("sessions", 0.04),
});
const idleMs = share("sessions", 0.2) / names.length;
const idle = await all("idle", () => ({ count: IDLE, ms: idleMs }), 1, { warm: 0 });

const stores = ["in memory", "JSON lines", "level", "libsql"];
const postgres = await postgresServer();
if (postgres) stores.push("postgres");
const workers = await startWorkers(stores, new URL("./jobs/stores.mjs", import.meta.url).href);
const { got: kept, faults } = await inTurn(
  stores,
  ROUNDS,
  async (store) => {
    const folder = mkdtempSync(join(tmpdir(), "shedkit-bench-"));
    try {
      return await workers[store].call("run", { store, folder, url: postgres?.url, count: RECORDS });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  { least: 2, ms: share("sessions", 0.25) },
);
for (const worker of Object.values(workers)) worker.end();
await postgres?.stop();
for (const [name, fault] of Object.entries(faults)) notes.push(`${name} failed: ${fault}`);

/** Where DATABASE_URL names a server, that one; else one of its own, from what the tests of the store bring. */
async function postgresServer() {
  const url = process.env.DATABASE_URL;
  if (url) return { url, stop: async () => {} };
  try {
    const { startPostgres } = await import("../packages/store-postgres/test/support/server.ts");
    return await startPostgres({ fsync: "on" });
  } catch (fault) {
    notes.push(`PostgreSQL is left out, its server does not start here: ${fault.message.split("\n")[0]}`);
    return undefined;
  }
}

const [wall, cpu, memory] = ["wall", "cpu", "memory"].map((key) => figures(together, key, OURS));
const [begun, used] = ["begun", "used"].map((key) => figures(idle, key, OURS));
const store = Object.fromEntries(
  ["one", "threes", "whole", "last"].map((key) => [key, figures(kept, key, "in memory")]),
);
report("sessions", {
  data: { concurrent: { wall, cpu, memory }, idle: { begun, used }, store },
  notes,
  tables: [
    {
      key: "concurrent",
      title: `${AT_ONCE.toLocaleString("en")} turns at once in one process, each of three steps whose tool takes 20 ms`,
      head: ["", "all of them, ms", "beside ours", "CPU a turn, ms", "beside ours", "memory more, MB"],
      rows: names.map((name) => [
        name,
        spread(wall[name]),
        number(wall[name]?.ratio),
        spread(cpu[name]),
        number(cpu[name]?.ratio),
        number(memory[name]?.high),
      ]),
    },
    {
      key: "idle",
      title: `${IDLE.toLocaleString("en")} idle conversations with ten tools: KB each`,
      head: ["", "begun", "after a turn", "beside ours"],
      rows: names.map((name) => [
        name,
        number(begun[name]?.median),
        number(used[name]?.median),
        number(used[name]?.ratio),
      ]),
    },
    {
      key: "stores",
      title: `Our stores: appends to a log, and a log of ${RECORDS.toLocaleString("en")} records taken up again, ms`,
      head: ["", "append of one", "append of three", `all ${RECORDS.toLocaleString("en")} read`, "the last 100 read"],
      rows: stores.map((name) => [name, ...["one", "threes", "whole", "last"].map((key) => spread(store[key][name]))]),
    },
  ],
});
process.exit();
