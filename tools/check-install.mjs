// What a person gets who installs the packages: packs every one, installs the tarballs into empty folders and there
//   - compiles (skipLibCheck off) and runs every ```ts block of the READMEs (```ts no-run is only compiled, ```ts node22 needs
//     more than Node 20);
//   - installs each package of tools, `fs`, `harness` and `text-tools` alone and measures it against the size that its README states;
//     with what its README's line installs, compiles and runs the first example;
//   - runs the packages that promise Node 20 under a Node 20.
// With names of packages of tools, only these are installed and measured: `node tools/check-install.mjs tools-files`.
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
/** Those that must state how much they take, and what may not be exceeded whatever they state. */
const ALONE = /^(?:tools|bridge)-|^(?:fs|harness|text-tools)$/;
const MOST_BYTES = { "tools-files": 3e6 };
const STATED = /Installed alone it takes less than (\d+(?:\.\d+)?) MB/;
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

const asked = process.argv.slice(2);
for (const name of asked) if (!byName.has(name)) throw new Error(`There is no package ${name} in packages/.`);
for (const name of [...byName.keys()].filter((one) => (asked.length > 0 ? asked.includes(one) : ALONE.test(one))))
  alone(name);
if (asked.length === 0) all();
if (problems.length > 0) {
  for (const problem of problems) console.error(`\n${problem}`);
  process.exit(1);
}

/** A package as it would be published, packed when it is first asked for. */
function tarball(name) {
  const { dir, manifest } = byName.get(name);
  const file = path.join(work, "tarballs", `shedkit-${name}-${manifest.version}.tgz`);
  if (existsSync(file)) return file;
  const r = run("pnpm", ["pack", "--pack-destination", path.dirname(file)], dir);
  if (r.status !== 0) throw new Error(`pnpm pack failed for ${manifest.name}:\n${r.output}`);
  return file;
}

/** One package: its size with what it needs and nothing else, then its first example with what its README installs. */
function alone(name) {
  const entry = byName.get(name);
  const readme = readFileSync(path.join(entry.dir, "README.md"), "utf8");
  const stated = Number(STATED.exec(readme)?.[1]) * 1e6;
  if (Number.isNaN(stated)) problems.push(`${name}: its README does not say "Installed alone it takes less than N MB"`);
  const folder = project(`alone-${name}`, closure(name), []);
  const bytes = sizeOf(path.join(folder, "node_modules"));
  const most = Math.min(Number.isNaN(stated) ? Infinity : stated, MOST_BYTES[name] ?? Infinity);
  const size = `${name} and all it needs: ${(bytes / 1e6).toFixed(2)} MB`;
  console.log(`${size} (limit ${most / 1e6} MB)`);
  if (bytes > most) problems.push(`${size}; the limit is ${most / 1e6} MB`);
  const examples = examplesOf(entry);
  const first = new Set([examples[0], examples.find(({ runs }) => runs)]);
  if (examples.length === 0) return problems.push(`${name}: its README has no \`\`\`ts block to run`);
  const line = /^\s*npm i (.*@shedkit\/.*)$/m.exec(readme)?.[1].replace(/#.*/, "").trim().split(/\s+/) ?? [];
  if (!line.includes(entry.manifest.name)) return problems.push(`${name}: its README has no line that installs it`);
  const own = line.filter((one) => one.startsWith("@shedkit/")).map((one) => one.replace("@shedkit/", ""));
  const others = line.filter((one) => !one.startsWith("@shedkit/")).map(tested);
  // Of Node's own modules an example needs the types, which whoever compiles has.
  install(folder, [...new Set(own.flatMap((one) => closure(one)))], [...others, tested("@types/node")]);
  runExamples(folder, [...first].filter(Boolean), process.execPath);
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
  install(folder, names, besides.map(tested));
  return folder;
}

function install(folder, names, versions) {
  const tarballs = names.map(tarball);
  const r = run(
    "npm",
    [
      "install",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--prefer-offline",
      "--loglevel=error",
      ...tarballs,
      ...versions,
    ],
    folder,
  );
  if (r.status !== 0) throw new Error(`npm install of ${names.join(", ")} failed:\n${r.output}`);
}

/** A package in the version that this repository is tested with. */
function tested(name) {
  for (const { manifest } of [
    { manifest: JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) },
    ...packages,
  ]) {
    const version = manifest.devDependencies?.[name] ?? manifest.dependencies?.[name];
    if (version !== undefined) return `${name}@${version}`;
  }
  throw new Error(`No version of ${name} is known: it is no devDependency of the repository or of a package.`);
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
