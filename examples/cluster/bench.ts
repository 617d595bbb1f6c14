// What a step costs on Restate, beside the same session in this process; and sessions a second on 1, 2 and 4 workers.
// `--quick` takes fewer of all.
import { performance } from "node:perf_hooks";
import process from "node:process";
import { openAgent } from "./agent.ts";
import { startCluster } from "./start.ts";

const quick = process.argv.includes("--quick");
const STEPS = 10;
const ROUNDS = quick ? 3 : 7;
const SESSIONS = quick ? 12 : 60;
const AT_ONCE = 12;

const prompt = `Look ${STEPS} times.`;
const cluster = await startCluster(1);
const { agent, builder, close } = await openAgent(cluster.database);

const ratios: number[] = [];
const added: number[] = [];
const client = agent.client({ ingress: cluster.ingress });
for (let round = -1; round < ROUNDS; round++) {
  const here = await timed(async () => {
    await using session = await builder.build();
    await session.ask(prompt);
  });
  const there = await timed(() => client.session().ask(prompt));
  if (round < 0) continue; // the first is for what starts up
  ratios.push(there / here);
  added.push((there - here) / (2 * STEPS + 1));
}
console.log(
  `A step (a model call or a tool call; turns of ${2 * STEPS + 1}, both logs in PostgreSQL, median of ${ROUNDS} pairs)`,
);
console.log(
  `  added: ${median(added).toFixed(1)} ms; the whole turn / the same in process: ${median(ratios).toFixed(2)}`,
);

console.log(`New sessions with a turn of ${2 * STEPS + 1} steps, ${AT_ONCE} at once`);
for (const count of [1, 2, 4]) {
  await cluster.workers(count);
  const seconds = (await timed(atOnce)) / 1000;
  console.log(
    `  ${count} workers: ${(SESSIONS / seconds).toFixed(1)} a second, ${(SESSIONS / seconds / count).toFixed(1)} a worker`,
  );
}
await close();
await cluster.stop();

async function atOnce(): Promise<void> {
  let left = SESSIONS;
  const asks = async () => {
    while (left-- > 0) await client.session().ask(prompt);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, asks));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0;
}
