// What the tools cost beside what they stand on: an edit, a search, a command, background tasks.
// node --expose-gc tools.mjs [--quick] [edit | search | tasks | calls]
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NodeFileSystem } from "@shedkit/fs/node";
import { backgroundTasks, Resources } from "@shedkit/tool";
import { editTool } from "@shedkit/tools-files";
import { searchFileTool } from "@shedkit/tools-search";
import { ripgrep } from "@shedkit/tools-search/node";
import { bashTool } from "@shedkit/tools-shell";
import { NodeTerminal } from "@shedkit/tools-shell/node";
import { stat } from "./lib/measure.mjs";
import { quick, report, spread, wantedOf } from "./lib/report.mjs";
import { share } from "./lib/shares.mjs";

const ROUNDS = quick ? 3 : 7;
const parts = { edit, search, tasks, calls };
const tables = [];
const data = {};
const notes = [];
const awake = setInterval(() => {}, 1000); // a task in the background keeps no process alive
for (const name of wantedOf(Object.keys(parts))) await inFolder(parts[name]);
clearInterval(awake);
report("tools", { tables, data, notes });

async function inFolder(part) {
  const folder = await mkdtemp(join(tmpdir(), "shedkit-bench-"));
  try {
    await part(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs them in turn, so that what the machine does meanwhile meets all; prints the medians, each beside the first. */
async function beside(key, title, ways, { rounds = ROUNDS, warm = 1, ms = share("tools", 0.15) } = {}) {
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  const failed = new Set();
  const until = performance.now() + ms;
  for (let round = -warm; round < rounds && (round < 2 || performance.now() < until); round++) {
    for (const [name, way] of Object.entries(ways)) {
      if (failed.has(name)) continue;
      const start = performance.now();
      try {
        await way(round);
        if (round >= 0) times[name].push(performance.now() - start);
      } catch (fault) {
        failed.add(name);
        notes.push(`${title}: ${name} failed: ${fault.message.split("\n")[0]}`);
      }
    }
  }
  const [first] = Object.keys(ways);
  const found = Object.entries(times).map(([name, all]) => {
    const ratios = all.map((time, i) => time / times[first][i]).filter(Number.isFinite);
    return [name, all.length > 0 ? { ...stat(all), ratio: stat(ratios) } : undefined];
  });
  data[title] = Object.fromEntries(found);
  tables.push({
    key,
    title,
    head: ["", "ms (less is better)", "beside the first"],
    rows: found.map(([name, own]) => [name, spread(own), name === first ? "1" : spread(own?.ratio)]),
  });
}

async function edit(folder) {
  const megabytes = quick ? 10 : 50;
  const path = join(folder, "large.txt");
  const line = `${"some words of a line ".repeat(2)}\n`;
  const count = Math.ceil((megabytes * 1024 * 1024) / line.length / 2);
  const text = `${line.repeat(count)}count = 0\n${line.repeat(count)}`;
  for (const file of [path, join(folder, "own.txt")]) await writeFile(file, text);
  const tool = editTool(new NodeFileSystem(folder));
  let [n, m] = [0, 0];
  const title = `One place in a file of ${megabytes} MB replaced`;
  await beside("edit", title, {
    "read, replace, write beside it, rename": async () => {
      const text = await readFile(path, "utf8");
      const handle = await open(`${path}.new`, "w");
      await handle.writeFile(text.replace(`count = ${n}\n`, `count = ${++n}\n`));
      await handle.sync();
      await handle.close();
      await rename(`${path}.new`, path);
    },
    edit: () => tool.call({ path: "own.txt", old_string: `count = ${m}\n`, new_string: `count = ${++m}\n` }),
  });
}

async function search(folder) {
  const files = quick ? 5000 : 100_000;
  for (let i = 0; i < files; i += 100) {
    const own = join(folder, `part${i % 700}`, `folder${i}`);
    await mkdir(own, { recursive: true });
    const text = "export function something(value) {\n  return value + 1;\n}\n".repeat(8);
    const write = (n) => writeFile(join(own, `file${n}.ts`), n % 997 === 0 ? `${text}needle ${n}\n` : text);
    await Promise.all(Array.from({ length: 100 }, (_, j) => write(i + j)));
  }
  const fs = new NodeFileSystem(folder);
  const finder = await ripgrep(fs.root);
  const toSearch = createRequire(new URL("../packages/tools-search/package.json", import.meta.url));
  const { rgPath } = toSearch("@vscode/ripgrep");
  const find = async (tool, query) => {
    const { matches } = await tool.call({ query, limit: 2000 });
    if (matches.length !== Math.ceil(files / 997)) throw new Error(`it found ${matches.length} in its time`);
  };
  for (const [key, what, query] of [
    ["search-text", "A text", "needle"],
    ["search-expression", "An expression", "n[e]+dle \\d+$"],
  ]) {
    const title = `${what} searched in ${files.toLocaleString("en")} files`;
    const params = { timeoutMs: 100_000 };
    await beside(
      key,
      title,
      {
        ripgrep: () =>
          exitOf(spawn(rgPath, ["--no-config", "--line-number", query, "."], { cwd: folder, stdio: "ignore" })),
        "search_file, files from ripgrep": () => find(searchFileTool(fs, { ...params, finder }), query),
        "search_file, without": () => find(searchFileTool(fs, params), query),
      },
      { rounds: 3, warm: 0, ms: share("tools", 0.25) }, // the files were written just now: they are in memory
    );
  }
}

async function tasks(folder) {
  const count = quick ? 100 : 1000;
  const title = `${count.toLocaleString("en")} tasks in the background, started and ended`;
  await beside(
    "tasks",
    title,
    {
      "bare spawn": async () => {
        const log = await open(join(folder, "log"), "a");
        const shells = Array.from({ length: count }, () => bare("true", folder, log.fd));
        await Promise.all(shells);
        await log.close();
      },
      "bash with is_background": async () => {
        const terminal = new NodeTerminal({ cwd: folder });
        const resources = new Resources();
        const tool = bashTool(terminal);
        const ids = await Promise.all(Array.from({ length: count }, (_, i) => inBackground(tool, i, resources)));
        if (new Set(ids).size !== count) throw new Error("not every call started a task");
        const tasks = [...resources.require(backgroundTasks).values()].flatMap((list) => list());
        await Promise.all(tasks.map((task) => task.ended));
        await resources.dispose();
        await terminal.dispose();
      },
    },
    { rounds: 3 },
  );
}

/** Calls the tool as a session does, which may ask for its tasks by its resources. Gives the id of the task. */
async function inBackground(tool, i, resources) {
  const names = { tool: "bash", param: (name) => name, toolOf: () => undefined, paramOf: () => undefined };
  const { signal } = new AbortController();
  const ctx = { callId: `call-${i}`, signal, resources, sessionId: "session", names, notify: () => {} };
  for await (const event of tool.execute({ command: "true", description: "", is_background: true }, ctx)) {
    if (event.type === "result") return event.result.output.task_id;
    if (event.type === "error") throw event.error;
  }
}

async function calls(folder) {
  const terminal = new NodeTerminal({ cwd: folder });
  const sandbox = await sandboxIn(folder);
  const call = (one) => () => bashTool(one).call({ command: "true", description: "" });
  const title = "One command that does nothing";
  const log = await open(join(folder, "log"), "a");
  await beside(
    "calls",
    title,
    {
      "bare spawn": () => bare("true", folder, log.fd),
      bash: call(terminal),
      ...(sandbox && { "bash in a sandbox": call(sandbox) }),
    },
    { rounds: quick ? 10 : 100 },
  );
  await log.close();
  await terminal.dispose();
  await sandbox?.dispose();
}

async function sandboxIn(folder) {
  try {
    const terminal = new NodeTerminal({ cwd: folder, sandbox: {} });
    await (await terminal.start("true")).exited;
    return terminal;
  } catch (error) {
    notes.push(`No sandbox here: ${error.message}`);
    return undefined;
  }
}

function bare(command, cwd, log) {
  return exitOf(spawn("/bin/bash", ["-c", command], { cwd, detached: true, stdio: ["ignore", log, log] }));
}

function exitOf(child) {
  return new Promise((done, fail) => child.once("exit", done).once("error", fail));
}
