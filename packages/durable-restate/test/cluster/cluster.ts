import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "tsup";
import { onTestFinished } from "vitest";
import { balancer } from "./balancer.js";

/** The worker as one program, made of the sources: it starts in a moment. */
export async function workerProgram(): Promise<{ file: string; remove(): Promise<void> }> {
  const outDir = await mkdtemp(join(tmpdir(), "shedkit-worker-"));
  await build({
    entry: [fileURLToPath(new URL("./worker.ts", import.meta.url))],
    outDir,
    format: ["esm"],
    platform: "node",
    noExternal: [/.*/],
    external: ["ajv", /^ajv\//, "ajv-formats"],
    esbuildOptions: (options) => {
      options.conditions = ["@shedkit/source"];
    },
    esbuildPlugins: [leaveOut(/^(pg|@restatedev\/restate-sdk|@restatedev\/restate-sdk-clients)$/)],
    ...{ silent: true, dts: false, config: false, clean: false },
  });
  await writeFile(join(outDir, "package.json"), '{"type":"module"}');
  return { file: join(outDir, "worker.js"), remove: () => rm(outDir, { recursive: true, force: true }) };
}

/** What is no source of ours stays where it is, and is imported from there. */
function leaveOut(filter: RegExp): NonNullable<Parameters<typeof build>[0]["esbuildPlugins"]>[number] {
  return {
    name: "leave out",
    setup: ({ onResolve, resolve }) => {
      onResolve({ filter }, async ({ path, kind, resolveDir, pluginData }) => {
        if (pluginData === "found") return undefined;
        const found = await resolve(path, { kind, resolveDir, pluginData: "found" });
        return { path: pathToFileURL(found.path).href, external: true };
      });
    },
  };
}

/** Workers behind one address. */
export interface Cluster {
  url: string;
  /** Starts one more; resolves when it listens. */
  start(version?: string): Promise<Worker>;
}

export interface Worker {
  readonly process: ChildProcess;
  /** Takes it out of the balancer's hands: it gets no new connections. */
  leave(): void;
  /** Ends it with -9; resolves when it is gone. */
  kill(): Promise<void>;
}

export async function cluster(file: string, settings: readonly string[]): Promise<Cluster> {
  const { url, ports, close } = await balancer();
  onTestFinished(close);
  return {
    url,
    async start(version = "1") {
      const child = spawn(process.execPath, [file, ...settings, version], { stdio: ["ignore", "pipe", "inherit"] });
      const ended = once(child, "close");
      const kill = async () => {
        child.kill("SIGKILL"); // of one that is stopped, too
        await ended;
      };
      onTestFinished(kill);
      const [line] = await Promise.race([
        once(createInterface({ input: child.stdout }), "line"),
        ended.then(() => {
          throw new Error("The worker ended before it listened.");
        }),
      ]);
      const port = Number(line);
      ports.push(port);
      const leave = () => {
        const at = ports.indexOf(port);
        if (at >= 0) ports.splice(at, 1);
      };
      void ended.then(leave);
      return { process: child, leave, kill };
    },
  };
}

/** Tells Restate of a deployment. */
export async function register(admin: string, uri: string): Promise<void> {
  const response = await fetch(`${admin}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri }),
  });
  if (!response.ok) throw new Error(await response.text());
}
