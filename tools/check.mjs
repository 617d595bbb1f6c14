// Everything that must hold before a change lands, in order; `npm test` runs it. A failing step does not stop the
// later ones, failed tasks get a second run that is told of, and the last line counts the tests.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const folders = "{packages,apps,examples}/*";
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
process.chdir(root);
const bin = (name) => path.join("node_modules", ".bin", process.platform === "win32" ? `${name}.cmd` : name);
const turbo = [
  bin("turbo"),
  "run",
  "--concurrency=200%",
  "--output-logs=new-only",
  "--continue=dependencies-successful",
];

/** Failed tests once more, at the end, where a reader of a long log looks. */
function tellFailures(report) {
  for (const { name, message, assertionResults } of report.testResults) {
    const file = path.relative(root, name);
    const tests = assertionResults.filter((test) => test.status === "failed");
    for (const test of tests) console.log(`\nFAILED ${file}: ${test.fullName}\n${test.failureMessages.join("\n")}`);
    if (message && tests.length === 0) console.log(`\nFAILED ${file}\n${message}`);
  }
}

/** A test task that came to no report, or reported success and failed all the same, left its log. */
function tellUnfinished() {
  for (const log of globSync(`${folders}/.turbo/turbo-{build,typecheck,test,test$colon$e2e}.log`)) {
    const text = readFileSync(log, "utf8").trimEnd();
    const ended = /\bELIFECYCLE\b|Unhandled Errors|error TS\d+/.test(text);
    if (ended) console.log(`\nFAILED ${log}\n${text.split("\n").slice(-40).join("\n")}`);
  }
}

/** [what, command, ...arguments] */
const steps = [
  ["lint: biome", bin("biome"), "check", "--error-on-warnings", "."],
  ["lint: oxlint", bin("oxlint"), "--deny-warnings"],
  ["lint: knip", bin("knip")],
  ["layers, circles, names", process.execPath, "tools/check-layers.mjs"],
  ["build, typecheck, test", ...turbo, "build", "typecheck", "test"],
  ["in a browser", ...turbo, "test:e2e"],
  ["package shape: publint, are the types wrong", ...turbo, "check:package"],
  ["npm start: the answer, and how soon it comes", process.execPath, "tools/check-start.mjs"],
  ["packed packages: install size, README examples, Node 20", process.execPath, "tools/check-install.mjs"],
  ["the program from one tarball", process.execPath, "tools/check-bundle.mjs"],
];

for (const folder of globSync(`${folders}/.results`)) rmSync(folder, { recursive: true, force: true });

const failed = [];
const unsteady = [];
for (const [what, command, ...args] of steps) {
  const start = Date.now();
  console.log(`\n== ${what}`);
  let ok = run(command, args);
  if (!ok && command === turbo[0]) {
    // What passed is cached, so this costs the failed tasks alone, and tells a defect from a machine's bad moment.
    tellReports();
    tellUnfinished();
    console.log(`\n== ${what}: the failed tasks once more`);
    ok = run(command, args);
    if (ok) unsteady.push(what);
  }
  if (!ok) failed.push(what);
  console.log(`-- ${what}: ${ok ? "ok" : "FAILED"}, ${((Date.now() - start) / 1000).toFixed(1)} s`);
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: "inherit", shell: process.platform === "win32" });
  if (error) console.error(error.message);
  return status === 0;
}

function tellReports() {
  for (const file of globSync(`${folders}/.results/*.json`)) tellFailures(JSON.parse(readFileSync(file, "utf8")));
}

const count = { passed: 0, failed: 0, skipped: 0 };
for (const file of globSync(`${folders}/.results/*.json`)) {
  const report = JSON.parse(readFileSync(file, "utf8"));
  count.passed += report.numPassedTests;
  count.failed += report.numFailedTests;
  count.skipped += report.numPendingTests + report.numTodoTests;
  tellFailures(report);
}
if (failed.length > 0) tellUnfinished();
if (unsteady.length > 0)
  console.log(`\nFailed once, then passed (see above; a defect to look for): ${unsteady.join("; ")}`);
if (failed.length > 0) console.log(`\nFailed: ${failed.join("; ")}`);
// A step that failed without a failing test counts as one failure, so that the last line alone tells.
count.failed ||= failed.length;
console.log(`\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
process.exit(count.failed > 0 || count.passed === 0 ? 1 : 0);
