// What a program takes that stands in a folder with its packages: its bundle, its types, the time until it is loaded.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { FIELDS } from "./subjects.mjs";

const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");

/** What is not installed stays outside of a bundle. */
const missing = {
  name: "missing",
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, kind, importer, resolveDir }) => {
      if (pluginData === "asked") return undefined;
      const found = await resolve(path, { kind, importer, resolveDir, pluginData: "asked" });
      return found.errors.length > 0 ? { path, external: true } : undefined;
    });
  },
};

/** Kilobytes of all that the program loads at once, in one file for Node, minified. */
export async function bundle(folder, program) {
  const entry = join(folder, "main.ts");
  writeFileSync(entry, program);
  const { outputFiles } = await build({
    ...{ entryPoints: [entry], bundle: true, minify: true, write: false, logLevel: "silent", plugins: [missing] },
    ...{ format: "esm", platform: "node", target: "node22", splitting: true, outdir: join(folder, "out") },
    loader: { ".node": "empty", ".wasm": "empty" },
  });
  const byPath = new Map(outputFiles.map((file) => [file.path, file]));
  // What the program imports when it needs it is no part.
  const loaded = new Set();
  const visit = (file) => {
    if (loaded.has(file)) return;
    loaded.add(file);
    for (const [, path] of file.text.matchAll(/(?:from|import)"(\.\/[^"]+)"/g)) {
      const next = byPath.get(join(dirname(file.path), path));
      if (next) visit(next);
    }
  };
  visit(outputFiles.find(({ path }) => path.endsWith("main.js")));
  const whole = Buffer.concat(Array.from(loaded, ({ contents }) => Buffer.from(contents)));
  return { min: whole.length / 1000, gz: gzipSync(whole, { level: 9 }).length / 1000 };
}

/** A subject's program with thirty tools; undefined where it has none. */
export function withTools({ program, head, tool, use }) {
  if (tool === undefined) return undefined;
  const names = FIELDS.map((_, i) => `tool${i}`);
  return [program, head, ...FIELDS.map((fields, i) => tool(i, fields)), use(names.join(", "))].join("\n");
}

/** Type instantiations and seconds of a program. */
export function types(folder, program) {
  if (program === undefined) return {};
  writeFileSync(join(folder, "typed.ts"), program);
  const options = [
    ...["--ignoreConfig", "--target", "ES2023", "--lib", "ES2023,ESNext.Disposable,DOM,DOM.AsyncIterable"],
    ...["--types", "", "--module", "NodeNext", "--strict", "--skipLibCheck", "--noEmit", "--extendedDiagnostics"],
  ];
  const { stdout, status } = spawnSync(process.execPath, [tsc, ...options, "typed.ts"], {
    cwd: folder,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`it does not compile: ${stdout.slice(0, 300)}`);
  const figure = (name) => Number(new RegExp(`^${name}:\\s+([\\d.]+)`, "m").exec(stdout)?.[1]);
  return { instantiations: figure("Instantiations"), check: figure("Check time") };
}

/** Writes what `load` runs: the program's imports alone. */
export function writeLoad(folder, program) {
  const lines = program.split("\n").filter((line) => line.startsWith("import "));
  const told = "(user + system) / 1000, process.memoryUsage().rss / 2 ** 20";
  writeFileSync(
    join(folder, "load.mjs"),
    [...lines, "const { user, system } = process.cpuUsage();", `console.log(${told});`, ""].join("\n"),
  );
}

/** CPU milliseconds and megabytes of a new process that did nothing but load: the clock would count what others do as well. */
export function load(folder) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(folder, "load.mjs")], { encoding: "utf8" });
  if (status !== 0) throw new Error(`it does not load: ${/^\w*Error.*$/m.exec(stderr)?.[0] ?? stderr.slice(0, 400)}`);
  const [ms, mb] = stdout.trim().split("\n").at(-1).split(" ").map(Number);
  return { ms, mb };
}
