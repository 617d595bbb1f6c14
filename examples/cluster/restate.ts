// A Restate server for as long as the cluster runs.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";

/** Starts a Restate server on free ports; it says in its log which. */
export async function startRestate(folder: string) {
  const require = createRequire(import.meta.url);
  const inside = createRequire(require.resolve("@restatedev/restate-server/package.json"));
  const binary = inside.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);
  const server = spawn(binary, ["--no-logo", "--base-dir", join(folder, "restate")], {
    env: {
      ...process.env,
      RESTATE_USE_RANDOM_PORTS: "true",
      RESTATE_LISTEN_MODE: "tcp",
      RESTATE_BIND_IP: "127.0.0.1",
      RESTATE_DISABLE_TELEMETRY: "true",
      RESTATE_LOG_FORMAT: "json",
      RESTATE_DEFAULT_NUM_PARTITIONS: "4",
      // Few turns a connection, so that they spread over the workers.
      RESTATE_WORKER__INVOKER__HTTP2_STREAMS_PER_CONNECTION_LIMIT: "4",
    },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ports = new Map<string, number>();
  let leaders = 0;
  for await (const line of createInterface({ input: server.stdout })) {
    const { fields, span } = JSON.parse(line.startsWith("{") ? line : "{}");
    if (/listening/.test(fields?.message)) ports.set(span.server_name, Number(span["server.port"]));
    if (/became Leader/.test(fields?.message)) leaders++;
    if (ports.size >= 3 && leaders >= 4) break;
  }
  if (ports.size < 3) throw new Error("The Restate server ended before it listened.");
  server.stdout.resume();
  return {
    ingress: `http://127.0.0.1:${ports.get("http-ingress-server")}`,
    admin: `http://127.0.0.1:${ports.get("admin-api-server")}`,
    stop: async () => {
      const ended = once(server, "close");
      server.kill("SIGKILL");
      await ended;
    },
  };
}
