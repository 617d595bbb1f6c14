// What a person gets who installs the program from its one tarball: packs it, installs it by npm in an empty folder without
// the optional dependencies, and asks it things; then with llama.cpp and libsql beside it, as they are installed here
// (npm would bring 600 MB of GPU builds with them, and `npm i -g` does not leave optional ones out).
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { root, win } from "./node.mjs";

const APP = path.join(root, "apps", "answerme-agent");
const PATIENCE = 120_000; // milliseconds, against hanging
const work = mkdtempSync(path.join(tmpdir(), "shedkit-bundle-"));
process.on("exit", () => rmSync(work, { recursive: true, force: true }));
const problems = [];

const packed = execute(process.execPath, [path.join(root, "tools/pack-bundle.mjs"), work]);
if (packed.status !== 0) throw new Error(packed.output);
const flags = ["--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
writeFileSync(path.join(work, "package.json"), '{ "private": true }\n');
const installed = execute("npm", ["install", ...flags, packed.stdout.trim()], work);
if (installed.status !== 0) throw new Error(`npm install of the tarball failed:\n${installed.output}`);
const modules = path.join(work, "node_modules");
const main = path.join(modules, "@shedkit/answerme-agent/dist/main.js");
const home = path.join(work, "home");
const tour = path.join(work, "tour");
mkdirSync(home);
cpSync(path.join(root, "examples/tour"), tour, { recursive: true });

const command = path.join(modules, ".bin", win ? "answerme-agent.cmd" : "answerme-agent");
expect("--help", execute(command, ["--help"]), /^answerme-agent - answers questions/);
expect("--version", execute(command, ["--version"]), /^\d+\.\d+\.\d+\n$/);

const { ScriptedServer } = await import(pathToFileURL(path.join(root, "packages/testing/dist/index.js")).href);
const read = [{ call: "read", arguments: { path: "config.ini" } }];
const found = [{ call: "shed", arguments: { description: "read a file" } }];
const turn = [{ answer: found }, { answer: read }, { answer: "It is 8417." }];
const server = await ScriptedServer.start([...turn, ...turn]);
const cloud = { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: "sk-test", ANSWERME_MODEL: "openai:scripted" };
const port = ["--root", tour, "What is the port in config.ini?"];
const bare = await ask(port, cloud);
expect("a model server, without optional dependencies", bare, /^It is 8417\.\n$/, /not kept: .*@libsql\/client/);
const local = await ask(port, {});
expect("the demonstration, without llama.cpp", { ...local, status: 0 }, /^$/, /node-llama-cpp/);

const from = createRequire(path.join(APP, "package.json"));
for (const [name, by] of [
  ["node-llama-cpp", from],
  ["@libsql/client", createRequire(path.join(root, "packages/store-libsql/package.json"))],
]) {
  const target = path.join(modules, name);
  const main = by.resolve(name);
  mkdirSync(path.dirname(target), { recursive: true });
  symlinkSync(realpathSync(main.slice(0, main.lastIndexOf(path.normalize(name)) + name.length)), target, "junction");
}
expect("a model server", await ask(port, cloud), /^It is 8417\.\n$/, /^(?![\s\S]*not kept)/);
expect("the demonstration", await ask(port, {}), /8417/);
await server.close();

if (problems.length > 0) {
  console.error(`\n${problems.join("\n\n")}`);
  process.exit(1);
}
const bytes = (file) => `${(execute("du", ["-sk", file]).stdout.split("\t")[0] / 1000).toFixed(1)} MB`;
if (!win) console.log(`installed, without optional dependencies: ${bytes(modules)}`);
const node = times(() => execute(process.execPath, ["-e", "0"]));
const prompt = await toPrompt();
if (prompt !== undefined) console.log(`start-up to the prompt, a model in the cloud: ${prompt} ms`);
console.log(`--help: ${times(() => execute(process.execPath, [main, "--help"]))} ms, of which Node alone ${node} ms`);

function expect(what, { status, stdout, stderr, output }, wanted, wantedBeside = /(?:)/) {
  const ok = status === 0 && wanted.test(stdout) && wantedBeside.test(stderr);
  if (ok) console.log(`installed from one tarball: ${what}: ok`);
  else problems.push(`${what}: exit ${status}, wanted ${wanted} and ${wantedBeside}:\n${output}`);
}

/** The fastest of a few, in milliseconds: what is slower was waiting for something else. */
function times(run) {
  return Math.round(
    Math.min(
      ...Array.from({ length: 7 }, () => {
        const start = performance.now();
        run();
        return performance.now() - start;
      }),
    ),
  );
}

/** How long it takes to the prompt, in a terminal of its own; undefined where there is no `script` that makes one. */
async function toPrompt() {
  if (win || !/util-linux/.test(execute("script", ["--version"]).stdout)) return undefined;
  const line = [process.execPath, main, "--root", tour].map((arg) => `'${arg}'`).join(" ");
  const took = [];
  for (let i = 0; i < 5; i++) {
    const start = performance.now();
    const env = environment({ HOME: home, TERM: "xterm", ...cloud });
    const child = spawn("script", ["--quiet", "--flush", "--command", line, "/dev/null"], { env, timeout: PATIENCE });
    let shown = "";
    for await (const text of child.stdout) {
      shown += text;
      if (took.length === i && /\n[^\n]*> /.test(shown)) {
        took.push(performance.now() - start);
        child.stdin.end("\u0004");
      }
    }
  }
  return Math.round(Math.min(...took));
}

function environment(extra = {}) {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(npm|pnpm)_|^(HF_|ANSWERME_|OPENAI_|ANTHROPIC_|XDG_|FORCE_COLOR|CI$)/i.test(name),
  );
  return { ...Object.fromEntries(inherited), ...extra };
}

function execute(command, args, cwd = work) {
  const options = { cwd, env: environment(), encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 600_000 };
  const r = spawnSync(command, args, { ...options, shell: win });
  const { stdout = "", stderr = "" } = r;
  return { status: r.status, stdout, stderr, output: `${stdout}${stderr}${r.error?.message ?? ""}` };
}

/** Apart from this process, which serves the model. */
async function ask(args, extra) {
  const env = environment({ HOME: home, USERPROFILE: home, ...extra });
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ["ignore", "pipe", "pipe"], timeout: PATIENCE });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  const status = await new Promise((resolve) => child.on("close", resolve));
  return { status, stdout, stderr, output: stdout + stderr };
}
