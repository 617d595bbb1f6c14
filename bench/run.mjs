// Runs measurements: pnpm bench [NAME ...] [--quick] [ARGUMENTS]; pnpm bench --list; pnpm bench --readme
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const HERE = import.meta.dirname;
/** In the order in which they run. `small`: part of `--quick` too. */
const MEASUREMENTS = {
  "turn-overhead": { small: true },
  "tool-loop": { small: true },
  "long-session": { small: true },
  "context-cost": { small: true, data: true, untimed: true },
  "shed-search": { small: true, data: true },
  sessions: { small: true },
  "install-size": { small: true, untimed: true },
  "local-generation": { small: true },
  types: { small: true },
  dispatch: { small: true },
  "provider-overhead": {},
  "agent-steps": {},
  tools: {},
};
const names = Object.keys(MEASUREMENTS);
const args = process.argv.slice(2);
const asked = args.filter((arg) => names.includes(arg));
const rest = args.filter((arg) => !names.includes(arg));
const quick = args.includes("--quick");

if (args.includes("--list")) {
  console.log(
    `pnpm bench [NAME ...] [--quick], where NAME is one of: ${names.join(", ")}. bench/README.md tells of each.`,
  );
} else if (!existsSync(join(HERE, "node_modules"))) {
  console.error("What is measured against is not installed: pnpm build, then pnpm --dir bench install.");
  process.exitCode = 2;
} else if (args.includes("--readme")) {
  const { writeTables } = await import("./lib/readme.mjs");
  writeTables();
} else if (asked.length === 0 && rest.some((arg) => arg !== "--quick")) {
  console.error(`There is no measurement "${rest.find((arg) => arg !== "--quick")}". pnpm bench --list has them all.`);
  process.exitCode = 2;
} else {
  await all(asked.length > 0 ? asked : names.filter((name) => !quick || MEASUREMENTS[name].small));
}

async function all(list) {
  if (list.some((name) => MEASUREMENTS[name].data) && !existsSync(join(HERE, ".data"))) await one("data", []);
  const started = performance.now();
  // What counts tokens and files is in no other's way: at the same time, where there is little of it.
  const beside = quick ? list.filter((name) => MEASUREMENTS[name].untimed) : [];
  for (const name of list) {
    if (beside.includes(name)) continue;
    await one(name, rest);
    // The search with an embedder, for the figures that READMEs have of it: where everything is measured.
    if (name === "shed-search" && !quick && asked.length === 0) await one(name, ["--embedder", "sentence-encoder"]);
  }
  await Promise.all(beside.map((name) => one(name, rest)));
  if (list.length > 1)
    console.log(`\n${list.length} measurements in ${((performance.now() - started) / 60_000).toFixed(1)} minutes.`);
}

function one(name, own) {
  console.log(`\n=== ${name}`);
  return new Promise((resolve) => {
    const start = performance.now();
    const child = spawn(process.execPath, ["--expose-gc", join(HERE, `${name}.mjs`), ...own], { stdio: "inherit" });
    child.on("close", (code, signal) => {
      if (code !== 0) {
        console.error(`${name} failed (${signal ?? code}).`);
        process.exitCode = 1;
      }
      console.log(`(${name}: ${((performance.now() - start) / 1000).toFixed(0)} s)`);
      resolve();
    });
  });
}
