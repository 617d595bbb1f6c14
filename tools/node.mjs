// Where a Node comes from: the one at hand, or the npm package that holds the binary, fetched into .toolchain/.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
export const win = process.platform === "win32";
export const exe = win ? ".exe" : "";
const NODE_20 = "20.20.2";

export const parseVersion = (version) => version.trim().replace(/^v/, "").split(".").map(Number);
export const say = (message) => console.error(`shedkit: ${message}`);

/** Installs one package into .toolchain/AS-VERSION and returns the folder that holds `binary` of it as `as`. */
export function fetched(name, version, as, binary, { env = process.env, prepare } = {}) {
  const home = path.join(root, ".toolchain", `${as}-${version}`);
  const target = path.join(home, "bin", as + exe);
  if (existsSync(target)) return path.dirname(target);
  say(`fetching ${name}@${version} into .toolchain/ ...`);
  rmSync(home, { recursive: true, force: true });
  mkdirSync(path.join(home, "bin"), { recursive: true });
  const flags = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const r = spawnSync("npm", ["install", "--prefix", home, ...flags, `${name}@${version}`], {
    env,
    stdio: ["ignore", 2, 2],
    shell: win,
  });
  if (r.status !== 0) {
    say(`npm did not fetch ${name}@${version}. Install ${as} ${version} yourself, and try again.`);
    process.exit(1);
  }
  const dir = path.join(home, "node_modules", name);
  prepare?.(dir);
  chmodSync(path.join(dir, binary + exe), 0o755);
  if (win) copyFileSync(path.join(dir, binary + exe), target);
  else symlinkSync(path.relative(path.dirname(target), path.join(dir, binary)), target);
  return path.dirname(target);
}

/** Fetches a Node of that version; returns the folder to put on PATH. */
export function fetchedNode(version, env) {
  const os = win ? "win" : process.platform;
  const name = `${os === "darwin" && process.arch === "arm64" ? "node-bin" : "node"}-${os}-${process.arch}`;
  return fetched(name, version, "node", win ? "node" : "bin/node", { env });
}

/** A Node 20: the one that started the check where it is one, else fetched. */
export function node20() {
  for (const candidate of [process.env.SHEDKIT_NODE_AT_HAND, process.execPath]) {
    if (!candidate) continue;
    const r = spawnSync(candidate, ["--version"], { encoding: "utf8" });
    const [major = 0, minor = 0] = parseVersion(r.stdout ?? "");
    if (major === 20 && minor >= 19) return { path: candidate, version: r.stdout.trim().slice(1) };
  }
  return { path: path.join(fetchedNode(NODE_20), `node${exe}`), version: NODE_20 };
}
