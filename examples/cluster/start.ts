// Restate, PostgreSQL, and workers with a balancer before them, on this machine.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { balancer } from "./balancer.ts";
import { startPostgres, startRestate } from "./servers.ts";

export interface Cluster {
  ingress: string;
  admin: string;
  database: string;
  /** Adds workers until there are so many. */
  workers(count: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startCluster(count: number): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), "shedkit-cluster-"));
  const [postgres, restate] = await Promise.all([startPostgres(folder), startRestate(folder)]);
  const { ingress, admin } = restate;
  const children: ChildProcess[] = [];
  const ports: number[] = [];

  async function startWorker(name: string): Promise<void> {
    const child = spawn(process.execPath, [fileURLToPath(new URL("worker.ts", import.meta.url))], {
      env: { ...process.env, WORKER: name, DATABASE_URL: postgres.url, RESTATE_INGRESS: ingress },
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    const [url] = await once(createInterface({ input: child.stdout }), "line");
    ports.push(Number(new URL(url).port));
  }

  async function workers(wanted: number): Promise<void> {
    const names = Array.from({ length: wanted - children.length }, (_, i) => `${children.length + i + 1}`);
    await Promise.all(names.map(startWorker));
  }

  await workers(count);
  const front = await balancer(ports);
  await fetch(`${admin}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri: front.url }),
  });
  return {
    ...{ ingress, admin, workers },
    database: postgres.url,
    stop: async () => {
      for (const child of children) child.kill();
      front.close();
      await restate.stop();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
