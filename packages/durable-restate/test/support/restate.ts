import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface RestateServer {
  ingress: string;
  admin: string;
  /** Kills it and starts it again, at the same addresses and with what it has stored. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The server's program, where there is one for this platform. */
export function restateBinary(): string | undefined {
  const require = createRequire(import.meta.url);
  const inside = createRequire(require.resolve("@restatedev/restate-server/package.json"));
  try {
    return inside.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);
  } catch {
    return undefined;
  }
}

/** Settings for tests: small and quiet, and patient with workers on a busy machine. */
const SETTINGS = {
  RESTATE_LISTEN_MODE: "tcp",
  RESTATE_BIND_IP: "127.0.0.1",
  RESTATE_DISABLE_TELEMETRY: "true",
  RESTATE_LOG_FORMAT: "json",
  RESTATE_NODE_NAME: "n1",
  RESTATE_DEFAULT_NUM_PARTITIONS: "4",
  RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_INTERVAL: "30s",
  RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_TIMEOUT: "60s",
  RESTATE_WORKER__INVOKER__HTTP2_STREAMS_PER_CONNECTION_LIMIT: "8",
};

/** For a server that is soon aware of a worker that hangs. */
export const IMPATIENT = {
  RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_INTERVAL: "1s",
  RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_TIMEOUT: "4s",
};

/** Starts a Restate server on loopback, in a folder that is gone when it stops. */
export async function startRestate(binary: string, more: NodeJS.ProcessEnv = {}): Promise<RestateServer> {
  const folder = await mkdtemp(join(tmpdir(), "shedkit-restate-"));
  const start = async (settings: NodeJS.ProcessEnv) => {
    const server = spawn(binary, ["--no-logo", "--base-dir", folder], {
      env: { ...process.env, ...SETTINGS, ...more, ...settings },
      stdio: ["ignore", "pipe", "pipe"],
    });
    server.stderr.resume();
    return { server, ports: await portsOf(server) };
  };
  const { server, ports } = await start({ RESTATE_USE_RANDOM_PORTS: "true" });
  const { ingress, admin, node } = ports;
  let current = server;
  const kill = async () => {
    const closed = once(current, "close");
    current.kill("SIGKILL");
    await closed;
  };
  return {
    ingress: `http://127.0.0.1:${ingress}`,
    admin: `http://127.0.0.1:${admin}`,
    restart: async () => {
      await kill();
      const same = { INGRESS__BIND_PORT: ingress, ADMIN__BIND_PORT: admin, BIND_PORT: node };
      const settings = Object.entries(same).map(([name, port]) => [`RESTATE_${name}`, `${port}`]);
      current = (await start(Object.fromEntries(settings))).server;
    },
    stop: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** It says where it listens. All of its partitions must have a leader before it takes work. */
async function portsOf(server: ChildProcess): Promise<{ ingress: number; admin: number; node: number }> {
  const found = new Map<string, number>();
  let leaders = 0;
  let log = "";
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: server.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      if (log.length < 100_000) log += `${line}\n`;
      const { fields, span } = JSON.parse(line.startsWith("{") ? line : "{}");
      if (/listening/.test(fields?.message)) found.set(span.server_name, Number(span["server.port"]));
      if (/became Leader/.test(fields?.message)) leaders++;
      if (found.size >= 3 && leaders >= 4) resolve();
    });
    server.once("close", () => reject(new Error(`restate-server ended:\n${log}`)));
  });
  const node = [...found].find(([name]) => name !== "http-ingress-server" && name !== "admin-api-server")?.[1] ?? 0;
  return { ingress: found.get("http-ingress-server") ?? 0, admin: found.get("admin-api-server") ?? 0, node };
}
