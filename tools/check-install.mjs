// What a person gets who installs the packages: packs every one, installs the tarballs into empty folders and there
//   - compiles (skipLibCheck off) and runs every ```ts block of the READMEs (```ts no-run is only compiled, ```ts node22 needs
//     more than Node 20);
//   - installs tools-files with nothing but what it needs, runs its README example, and measures node_modules;
//   - runs the packages that promise Node 20 under a Node 20.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { node20 } from "./node.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const tsc = path.join(root, "node_modules", "typescript", "bin", "tsc");
const LIGHT = { package: "tools-files", maxBytes: 3e6 };
const EXAMPLE_SECONDS = 60;
/** What examples may import besides our packages: the versions this repository is tested with. */
const BESIDES = ["@types/node", "@sinclair/typebox"];

const work = mkdtempSync(path.join(tmpdir(), "shedkit-install-"));
const problems = [];
process.on("exit", () => rmSync(work, { recursive: true, force: true }));

const packages = globSync("packages/*/package.json", { cwd: root })
  .sort()
  .map((file) => ({
    dir: path.join(root, path.dirname(file)),
    manifest: JSON.parse(readFileSync(path.join(root, file), "utf8")),
  }))
  .filter(({ manifest }) => !manifest.private);
const nameOf = ({ manifest }) => manifest.name.replace("@shedkit/", "");
const byName = new Map(packages.map((entry) => [nameOf(entry), entry]));

pack();
light();
all();
if (problems.length > 0) {
  for (const problem of problems) console.error(`\n${problem}`);
  process.exit(1);
}

function pack() {
  for (const { dir, manifest } of packages) {
    const r = run("pnpm", ["pack", "--pack-destination", path.join(work, "tarballs")], dir);
    if (r.status !== 0) throw new Error(`pnpm pack failed for ${manifest.name}:\n${r.output}`);
  }
}

/** tools-files alone: what it needs, nothing else. */
function light() {
  const folder = project("light", closure(LIGHT.package), []);
  const bytes = sizeOf(path.join(folder, "node_modules"));
  const size = `${LIGHT.package} and all it needs: ${(bytes / 1e6).toFixed(2)} MB`;
  console.log(`${size} (limit ${LIGHT.maxBytes / 1e6} MB)`);
  if (bytes > LIGHT.maxBytes) problems.push(`${size}; the limit is ${LIGHT.maxBytes / 1e6} MB`);
  const [example] = examplesOf(byName.get(LIGHT.package));
  if (!example) problems.push(`${LIGHT.package}: its README has no \`\`\`ts block to run`);
  else runExamples(folder, [example], process.execPath);
}

/** Every package, with what its examples may import. */
function all() {
  const folder = project("all", [...byName.keys()], BESIDES);
  const examples = [...packages.flatMap(examplesOf), ...examplesOf({ dir: root, manifest: { name: "root" } })];
  for (const entry of packages) {
    if (!examples.some((example) => example.package === nameOf(entry)))
      problems.push(`${nameOf(entry)}: its README has no \`\`\`ts block to run`);
  }
  runExamples(folder, examples, process.execPath);

  const old = node20();
  const promised = packages.filter(({ manifest }) => manifest.engines?.node === ">=20.19").map(nameOf);
  console.log(`Node 20 (${old.version}): ${promised.join(", ")}`);
  for (const name of promised) {
    const { manifest } = byName.get(name);
    const entries = Object.keys(manifest.exports).filter((key) => key !== "./package.json");
    for (const entry of entries) {
      const specifier = manifest.name + entry.slice(1);
      const r = run(old.path, ["--input-type=module", "-e", `await import(${JSON.stringify(specifier)})`], folder);
      if (r.status !== 0) problems.push(`${specifier} does not load under Node ${old.version}:\n${r.output}`);
    }
  }
  execute(
    folder,
    examples.filter((example) => example.onNode20 && promised.includes(example.package)),
    old.path,
  );
}

/** An empty project with these packages' tarballs installed by npm, as a user would. */
function project(name, names, besides) {
  const folder = path.join(work, name);
  mkdirSync(folder);
  writeFileSync(path.join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  const tarballs = names.map((one) => {
    const { manifest } = byName.get(one);
    return path.join(work, "tarballs", `shedkit-${one}-${manifest.version}.tgz`);
  });
  const versions = besides.map(
    (one) => `${one}@${JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")).devDependencies[one]}`,
  );
  const r = run(
    "npm",
    ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", ...tarballs, ...versions],
    folder,
  );
  if (r.status !== 0) throw new Error(`npm install of ${names.join(", ")} failed:\n${r.output}`);
  return folder;
}

/** A package and the workspace packages it depends on. */
function closure(name, seen = new Set()) {
  if (seen.has(name)) return [];
  seen.add(name);
  const needed = Object.keys(byName.get(name).manifest.dependencies ?? {}).filter((one) => one.startsWith("@shedkit/"));
  for (const one of needed) closure(one.replace("@shedkit/", ""), seen);
  return [...seen];
}

function examplesOf(entry) {
  const readme = path.join(entry.dir, "README.md");
  if (!existsSync(readme)) return [];
  const blocks = [...readFileSync(readme, "utf8").matchAll(/^```ts( no-run| node22)?\n([\s\S]*?)^```$/gm)];
  return blocks.map((block, i) => ({
    package: nameOf(entry),
    file: `${nameOf(entry)}-${i + 1}`,
    runs: block[1] !== " no-run",
    onNode20: block[1] === undefined,
    code: block[2],
  }));
}

function runExamples(folder, examples, node) {
  for (const { file, code } of examples) writeFileSync(path.join(folder, `${file}.ts`), code);
  const compilerOptions = {
    target: "ES2023",
    lib: ["ES2023", "ESNext.Disposable", "DOM", "DOM.AsyncIterable"],
    module: "NodeNext",
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    outDir: "out",
    rootDir: ".",
    types: existsSync(path.join(folder, "node_modules/@types/node")) ? ["node"] : [],
  };
  const files = examples.map(({ file }) => `${file}.ts`);
  writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const r = run(process.execPath, [tsc, "-p", "."], folder);
  if (r.status !== 0) problems.push(`README examples do not compile (${path.basename(folder)}):\n${r.output}`);
  else execute(folder, examples, node);
}

/** Each example runs in a folder of its own, so that what one leaves behind is not another's input. */
function execute(folder, examples, node) {
  for (const { file } of examples.filter((example) => example.runs)) {
    const cwd = mkdtempSync(path.join(folder, `run-${file}-`));
    cpSync(path.join(folder, "out", `${file}.js`), path.join(cwd, `${file}.js`));
    const start = Date.now();
    const r = run(node, [`${file}.js`], cwd, EXAMPLE_SECONDS);
    const seconds = ((Date.now() - start) / 1000).toFixed(1);
    if (r.status === 0) console.log(`README example ${file}: ran, ${seconds} s`);
    else problems.push(`README example ${file} failed (${r.signal ?? `exit ${r.status}`}, ${seconds} s):\n${r.output}`);
  }
}

function run(command, args, cwd, seconds) {
  const env = { ...process.env };
  // pnpm's own settings, given to scripts by environment, are not for npm.
  for (const key of Object.keys(env)) if (/^(npm|pnpm)_config_/i.test(key)) delete env[key];
  const r = spawnSync(command, args, {
    cwd,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32",
    ...(seconds === undefined ? {} : { timeout: seconds * 1000, killSignal: "SIGKILL" }),
  });
  return { status: r.status, signal: r.signal, output: `${r.stdout ?? ""}${r.stderr ?? ""}${r.error?.message ?? ""}` };
}

function sizeOf(folder) {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) bytes += statSync(path.join(entry.parentPath, entry.name)).size;
  return bytes;
}
