// Restate, PostgreSQL and two workers on this machine; then a few sessions that ask at the same time.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { openAgent } from "./agent.ts";
import { balancer } from "./balancer.ts";
import { startPostgres, startRestate } from "./servers.ts";

const folder = await mkdtemp(join(tmpdir(), "shedkit-cluster-"));
const [postgres, restate] = await Promise.all([startPostgres(folder), startRestate(folder)]);
const { ingress, admin } = restate;

async function startWorker(name: string) {
  const child = spawn(process.execPath, [fileURLToPath(new URL("worker.ts", import.meta.url))], {
    env: { ...process.env, WORKER: name, DATABASE_URL: postgres.url, RESTATE_INGRESS: ingress },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  return { child, port: Number(new URL(url).port) };
}

const workers = await Promise.all(["one", "two"].map(startWorker));
const front = await balancer(workers.map(({ port }) => port));
await fetch(`${admin}/deployments`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ uri: front.url }),
});
console.log(`Restate: ${ingress}, its web page: ${admin}/ui`);

const { agent, close } = await openAgent(postgres.url);
const client = agent.client({ ingress });
const sessions = Array.from({ length: 12 }, (_, i) => client.session(`session-${i + 1}`));
const answers = await Promise.all(sessions.map((session) => session.ask("Who are you?")));
for (const [i, { text }] of answers.entries()) console.log(`session-${i + 1}: ${text}`);

if (process.argv.includes("--keep")) {
  console.log("Ctrl-C ends it all.");
  await once(process, "SIGINT");
}
await close();
for (const { child } of workers) child.kill();
front.close();
await restate.stop();
await postgres.stop();
await rm(folder, { recursive: true, force: true });
