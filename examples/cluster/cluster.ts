// The cluster with two workers; then a few sessions that ask at the same time.
import { once } from "node:events";
import process from "node:process";
import { openAgent } from "./agent.ts";
import { startCluster } from "./start.ts";

const cluster = await startCluster(2);
console.log(`Restate: ${cluster.ingress}, its web page: ${cluster.admin}/ui`);

const { agent, close } = await openAgent(cluster.database);
const client = agent.client({ ingress: cluster.ingress });
const sessions = Array.from({ length: 12 }, (_, i) => client.session(`session-${i + 1}`));
const answers = await Promise.all(sessions.map((session) => session.ask("Who are you?")));
for (const [i, { text }] of answers.entries()) console.log(`session-${i + 1}: ${text}`);

if (process.argv.includes("--keep")) {
  console.log("Ctrl-C ends it all.");
  await once(process, "SIGINT");
}
await close();
await cluster.stop();
