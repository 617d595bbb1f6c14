import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { report } from "./lib/report.mjs";

/** What a project with thirty tools costs a compiler, beside the schemas' library alone; more than the bar fails. */
const BARS = [
  ["thirty-tools.ts", 40_000],
  ["thirty-tools-plain.ts", 25_000],
];

const folder = path.join(import.meta.dirname, "types");
const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
const OPTIONS = [
  ["--ignoreConfig"],
  ["--target", "ES2023", "--lib", "ES2023,ESNext.Disposable,DOM,DOM.AsyncIterable", "--module", "NodeNext"],
  ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--skipLibCheck", "--noEmit"],
  ["--extendedDiagnostics"],
].flat();

const rows = [];
const data = {};
for (const [file, bar] of BARS) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [tsc, ...OPTIONS, file], {
    cwd: folder,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${file} does not compile:\n${stdout}${stderr}`);
  const count = Number(/^Instantiations:\s+(\d+)/m.exec(stdout)?.[1] ?? Number.NaN);
  data[file] = { count, bar };
  rows.push([`types/${file}`, bar.toLocaleString("en"), count.toLocaleString("en"), count <= bar ? "within" : "OVER"]);
  if (!(count <= bar)) process.exitCode = 1;
}
report("types", {
  data,
  tables: [
    { key: "types", title: "Thirty tools: type instantiations", head: ["", "bar", "measured", "verdict"], rows },
  ],
});
