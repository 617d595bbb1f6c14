// answerme-agent as one tarball: our packages inside of it, what is heavy or native as optional dependencies, so that
// `npm i -g FILE` installs the program without any other package of ours. Needs a build; prints where the tarball is.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { root, win } from "./node.mjs";

/** Without them the program still asks models in the cloud; it says what is missing where it is needed. */
const OPTIONAL = new Set(["node-llama-cpp", "@libsql/client", "@vscode/ripgrep", "@modelcontextprotocol/client"]);
/** For parts of our packages that the program has no use for. */
const LEFT_OUT = new Set(["@modelcontextprotocol/server"]);
const APP = path.join(root, "apps", "answerme-agent");

const target = path.resolve(process.argv[2] ?? APP);
const stage = mkdtempSync(path.join(tmpdir(), "answerme-bundle-"));
process.on("exit", () => rmSync(stage, { recursive: true, force: true }));

const app = manifestOf(APP);
const inside = closure(app);
const dependencies = {};
const optionalDependencies = {};
for (const manifest of [app, ...inside.values()]) {
  const all = { ...manifest.dependencies, ...manifest.optionalDependencies };
  for (const [name, version] of Object.entries(all)) {
    if (inside.has(name) || LEFT_OUT.has(name)) continue;
    (OPTIONAL.has(name) ? optionalDependencies : dependencies)[name] = version;
  }
}
for (const [name, { version }] of inside) dependencies[name] = version;

copy(APP, stage, app);
const { scripts, devDependencies, ...kept } = app;
write(stage, { ...kept, dependencies, optionalDependencies, bundleDependencies: [...inside.keys()] });
for (const [name, manifest] of inside) {
  const folder = path.join(stage, "node_modules", name);
  copy(path.join(root, "packages", name.replace("@shedkit/", "")), folder, manifest);
  const { version, license, type, imports } = manifest;
  write(folder, { name, version, license, type, imports, exports: atRunTime(manifest.exports) });
}
mkdirSync(target, { recursive: true });
const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", target];
const packed = spawnSync("npm", args, { cwd: stage, encoding: "utf8", shell: win });
if (packed.status !== 0) throw new Error(`npm pack failed:\n${packed.stdout}${packed.stderr}${packed.error ?? ""}`);
const output = JSON.parse(packed.stdout);
const [{ filename }] = Array.isArray(output) ? output : Object.values(output);
console.log(path.join(target, path.basename(filename)));

function manifestOf(folder) {
  return JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
}

/** Our packages that a package needs, and those that they need. */
function closure(manifest, found = new Map()) {
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    if (!name.startsWith("@shedkit/") || found.has(name)) continue;
    const needed = manifestOf(path.join(root, "packages", name.replace("@shedkit/", "")));
    found.set(name, needed);
    closure(needed, found);
  }
  return found;
}

/** What is published of a package, but for sources, declarations and maps. */
function copy(from, to, { files }) {
  mkdirSync(to, { recursive: true });
  for (const name of [...files.filter((file) => file !== "src"), "LICENSE", "README.md", "CHANGELOG.md"]) {
    const source = path.join(from, name);
    if (!existsSync(source)) {
      if (name === "dist") throw new Error(`${source} is not there; build first: pnpm turbo build`);
      continue;
    }
    cpSync(source, path.join(to, name), { recursive: true, filter: (file) => !/\.map$|\.d\.ts$/.test(file) });
  }
}

/** Conditions of development and of types taken out. */
function atRunTime(entry) {
  if (typeof entry !== "object" || entry === null) return entry;
  const kept = Object.entries(entry).filter(([key]) => key !== "types" && key !== "@shedkit/source");
  return Object.fromEntries(kept.map(([key, value]) => [key, atRunTime(value)]));
}

function write(folder, manifest) {
  writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}
