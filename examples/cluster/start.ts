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
import { startPostgres } from "./postgres.ts";
import { startRestate } from "./restate.ts";

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
  const undo: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const postgres = await startPostgres(folder);
    undo.push(postgres.stop);
    const restate = await startRestate(folder);
    undo.push(restate.stop);
    const { ingress, admin } = restate;
    const children: ChildProcess[] = [];
    const ports: number[] = [];
    undo.push(() => {
      for (const child of children) child.kill();
    });
    const workers = async (wanted: number) => {
      const names = Array.from({ length: wanted - children.length }, (_, i) => `${children.length + i + 1}`);
      await Promise.all(
        names.map(async (name) => {
          const child = startWorker({ WORKER: name, DATABASE_URL: postgres.url, RESTATE_INGRESS: ingress });
          children.push(child);
          ports.push(await portOf(child));
        }),
      );
    };
    await workers(count);
    const front = await balancer(ports);
    undo.push(front.close);
    await register(admin, front.url);
    return { ingress, admin, workers, database: postgres.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startWorker(settings: NodeJS.ProcessEnv): ChildProcess {
  return spawn(process.execPath, [fileURLToPath(new URL("worker.ts", import.meta.url))], {
    env: { ...process.env, ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** It prints its address once it listens. */
async function portOf(child: ChildProcess): Promise<number> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const [url] = await Promise.race([
    once(lines, "line"),
    once(child, "close").then(() => {
      throw new Error("A worker ended before it listened.");
    }),
  ]);
  return Number(new URL(url).port);
}

/** Tells Restate of the workers, by the address of what stands before them. */
async function register(admin: string, uri: string): Promise<void> {
  const response = await fetch(`${admin}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri }),
  });
  if (!response.ok) throw new Error(`Restate did not take the workers: ${await response.text()}`);
}
