// The README's first command on a repository that is set up: the right answer, the tool calls behind it, and how long it
// takes to the first line and to the first token of the answer. Run by itself, so that nothing else is in its way.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { root, win } from "./node.mjs";

const LIMIT = { firstLine: 3000, firstToken: 6000 }; // milliseconds
const tour = "examples/tour";
const port = /^port\s*=\s*(\d+)/m.exec(readFileSync(`${root}/${tour}/config.ini`, "utf8"))?.[1];

const start = performance.now();
const took = {};
const out = { stdout: "", stderr: "" };
const child = spawn("npm", ["start", "--", "--root", tour, "What is the port in config.ini?"], {
  cwd: root,
  stdio: ["ignore", "pipe", "pipe"],
  shell: win,
});
child.stdout.setEncoding("utf8").on("data", (text) => {
  out.stdout += text;
  // npm prints the script that it runs, each line after a ">".
  if (/^(?!>)\S/m.test(out.stdout)) took.firstToken ??= performance.now() - start;
});
child.stderr.setEncoding("utf8").on("data", (text) => {
  out.stderr += text;
  took.firstLine ??= performance.now() - start;
});
child.on("close", (code) => {
  const problems = [];
  if (code !== 0) problems.push(`exit code ${code}`);
  if (!port || !out.stdout.includes(port)) problems.push(`the answer does not name the port ${port}`);
  for (const tool of ["shed", "search_file"])
    if (!out.stderr.includes(`-> ${tool}(`)) problems.push(`${tool} was not called`);
  for (const [what, limit] of Object.entries(LIMIT))
    if (!(took[what] <= limit)) problems.push(`${what} took ${took[what]?.toFixed(0)} ms; the limit is ${limit} ms`);
  const seconds = (ms) => `${((ms ?? Number.NaN) / 1000).toFixed(1)} s`;
  console.log(`npm start: first line after ${seconds(took.firstLine)}, first token after ${seconds(took.firstToken)}`);
  if (problems.length === 0) return;
  console.error(`${problems.join("\n")}\n${out.stdout}${out.stderr}`);
  process.exitCode = 1;
});
