// What an installation takes: files, a bundle, the time until it is loaded, the work of the compiler.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { install, sizeOf } from "./lib/install/folders.mjs";
import { partSizes } from "./lib/install/parts.mjs";
import { FIELDS, SUBJECTS } from "./lib/install/subjects.mjs";
import { stat } from "./lib/measure.mjs";
import { versions } from "./lib/peers.mjs";
import { number, quick, report, spread, wanted } from "./lib/report.mjs";
import { share } from "./lib/shares.mjs";

const ROUNDS = quick ? 3 : 11;
const work = mkdtempSync(join(tmpdir(), "shedkit-bench-"));
const require = createRequire(import.meta.url);
const tsc = join(dirname(require.resolve("typescript/package.json")), "bin/tsc");
const data = {};
const notes = [
  "Installed by npm in an empty folder, without optional dependencies (but @openai/agents, which does not load without) and without scripts; ours from tarballs packed here.",
  "“Everything” is all packages of ours without what is installed beside them: node-llama-cpp, transformers.js, ai.",
];
process.on("exit", () => rmSync(work, { recursive: true, force: true }));

const devDependencies = (folder) =>
  JSON.parse(readFileSync(join(import.meta.dirname, "..", folder, "package.json"), "utf8")).devDependencies;
const local = devDependencies("packages/provider-llamacpp");
const pinned = {
  ...versions(),
  ...devDependencies("."),
  ...devDependencies("packages/provider-transformers"),
  ...local,
  "@node-llama-cpp/linux-x64": local["node-llama-cpp"],
};
const strands = JSON.parse(readFileSync(join(import.meta.dirname, "strands/package.json"), "utf8")).dependencies;
const folders = {};
const loadable = [];
const packed = new Map();
for (const [place, [name, subject]] of Object.entries(SUBJECTS).entries()) {
  if (!wanted(name) || (quick && subject.full)) continue;
  try {
    const folder = install(subject, { work, name: `${place}`, packed, versions: pinned, strandsVersions: strands });
    folders[name] = folder;
    data[name] = sizeOf(folder);
    if (!subject.program) continue;
    writeFileSync(join(folder, "main.ts"), subject.program);
    writeLoad(folder, subject.program);
    load(join(folder, "load.mjs")); // one that does not load is told, and is no part of the rounds
    loadable.push(name);
    Object.assign(data[name], await bundle(folder));
    Object.assign(data[name], types(folder, subject));
  } catch (fault) {
    notes.push(`${name} failed: ${fault.message.split("\n").slice(0, 3).join(" ")}`);
  }
}
await imports();
const parts = partSizes();
report("install-size", {
  data: { ...data, parts },
  notes,
  tables: [
    {
      key: "install",
      title: "What an installation takes (less is better)",
      head: [
        "",
        "installed, MB",
        "packages",
        "bundle, gz KB",
        "loaded in, CPU ms",
        "of it Node, ms",
        "memory more than Node, MB",
        "thirty tools: instantiations",
        "check, s",
      ],
      rows: Object.entries(data).map(([name, own]) => [
        name,
        number(own.megabytes),
        `${own.packages}`,
        number(own.gz),
        spread(own.load),
        number(own.node),
        number(own.memory),
        own.instantiations === undefined ? "–" : own.instantiations.toLocaleString("en"),
        number(own.check),
      ]),
    },
    {
      key: "parts",
      title: "Large parts, MB",
      head: ["", "MB"],
      rows: Object.entries(parts).map(([name, size]) => [name, number(size)]),
    },
  ],
});
process.exit();

/** Kilobytes of all that the program pulls, in one file for Node, minified. What is not installed stays outside. */
async function bundle(folder) {
  const missing = {
    name: "missing",
    setup({ onResolve, resolve }) {
      onResolve({ filter: /^[^./]/ }, async (args) => {
        if (args.pluginData === "asked") return undefined;
        const { kind, importer, resolveDir } = args;
        const found = await resolve(args.path, { kind, importer, resolveDir, pluginData: "asked" });
        return found.errors.length > 0 ? { path: args.path, external: true } : undefined;
      });
    },
  };
  const { outputFiles } = await build({
    ...{ entryPoints: [join(folder, "main.ts")], bundle: true, minify: true, write: false, logLevel: "silent" },
    ...{
      format: "esm",
      platform: "node",
      target: "node22",
      splitting: true,
      outdir: join(folder, "out"),
      plugins: [missing],
    },
    loader: { ".node": "empty", ".wasm": "empty" },
  });
  // What the program loads at once; what it imports when it needs it is no part.
  const first = outputFiles.find(({ path }) => path.endsWith("main.js"));
  const byPath = new Map(outputFiles.map((file) => [file.path, file]));
  const loaded = new Set();
  const visit = (file) => {
    if (loaded.has(file)) return;
    loaded.add(file);
    for (const [, path] of file.text.matchAll(/(?:from|import)"(\.\/[^"]+)"/g)) {
      const next = byPath.get(join(dirname(file.path), path));
      if (next) visit(next);
    }
  };
  visit(first);
  const whole = Buffer.concat(Array.from(loaded, ({ contents }) => Buffer.from(contents)));
  return { min: whole.length / 1000, gz: gzipSync(whole, { level: 9 }).length / 1000 };
}

/** Type instantiations and seconds of the program with thirty tools. */
function types(folder, { program, head, tool, use }) {
  if (!tool) return {};
  const names = FIELDS.map((_, i) => `tool${i}`);
  writeFileSync(
    join(folder, "tools.ts"),
    [program, head, ...FIELDS.map((fields, i) => tool(i, fields)), use(names.join(", "))].join("\n"),
  );
  const options = [
    ...[
      "--ignoreConfig",
      "--target",
      "ES2023",
      "--lib",
      "ES2023,ESNext.Disposable,DOM,DOM.AsyncIterable",
      "--types",
      "",
    ],
    ...["--module", "NodeNext", "--strict", "--skipLibCheck", "--noEmit", "--extendedDiagnostics", "tools.ts"],
  ];
  const { stdout, status } = spawnSync(process.execPath, [tsc, ...options], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`the thirty tools do not compile: ${stdout.slice(0, 300)}`);
  const figure = (name) => Number(new RegExp(`^${name}:\\s+([\\d.]+)`, "m").exec(stdout)?.[1]);
  return { instantiations: figure("Instantiations"), check: figure("Check time") };
}

/** Milliseconds and megabytes until the program's imports are there, in a new process, all in turn. */
async function imports() {
  const bare = [];
  const times = Object.fromEntries(loadable.map((name) => [name, []]));
  const memory = Object.fromEntries(loadable.map((name) => [name, []]));
  writeLoad(work, "");
  const until = performance.now() + share("install-size", 0.3);
  for (let round = -1; round < ROUNDS && (round < 3 || performance.now() < until); round++) {
    const base = load(join(work, "load.mjs"));
    if (round >= 0) bare.push(base);
    for (const name of loadable) {
      const folder = folders[name];
      const found = load(join(folder, "load.mjs"));
      if (round < 0) continue;
      times[name].push(found.ms);
      memory[name].push(found.mb);
    }
  }
  const [node, rss] = [stat(bare.map(({ ms }) => ms)).median, stat(bare.map(({ mb }) => mb)).median];
  for (const name of loadable) {
    data[name].load = stat(times[name]);
    data[name].node = node;
    data[name].memory = stat(memory[name]).median - rss;
  }
}

/** The process's time, in which it did nothing but load: the clock would count what others do as well. */
function writeLoad(folder, program) {
  const lines = program.split("\n").filter((line) => line.startsWith("import "));
  const told = "(user + system) / 1000, process.memoryUsage().rss / 2 ** 20";
  writeFileSync(
    join(folder, "load.mjs"),
    [...lines, "const { user, system } = process.cpuUsage();", `console.log(${told});`, ""].join("\n"),
  );
}

function load(file) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [file], { encoding: "utf8" });
  if (status !== 0)
    throw new Error(`${file} does not load: ${/^\w*Error.*$/m.exec(stderr)?.[0] ?? stderr.slice(0, 400)}`);
  const [ms, mb] = stdout.trim().split("\n").at(-1).split(" ").map(Number);
  return { ms, mb };
}
