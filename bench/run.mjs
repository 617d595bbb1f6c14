// Runs measurements: pnpm bench [NAME ...] [--quick] [ARGUMENTS]; pnpm bench --list; pnpm bench --readme
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SHARES } from "./lib/shares.mjs";

const HERE = import.meta.dirname;
/** In the order in which they run. `small`: part of `--quick` too. `untimed`: counts tokens or files, more than time. */
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
  console.log("pnpm bench [NAME ...] [--quick], where NAME is one of these; bench/README.md tells of each:");
  for (const name of names) console.log(`  ${name}: some ${SHARES[name][0]} s`);
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
    if (name === "shed-search" && !quick && asked.length === 0) {
      await one(name, ["--embedder", "sentence-encoder"], SHARES["shed-search-embedder"]);
    }
  }
  await Promise.all(beside.map((name) => one(name, rest)));
  if (list.length > 1)
    console.log(`\n${list.length} measurements in ${((performance.now() - started) / 60_000).toFixed(1)} minutes.`);
}

/** A measurement in a process of its own, which is ended when it takes far longer than its share. */
function one(name, own, [whole, small] = SHARES[name] ?? [300, 300]) {
  const limit = 2 * (quick ? small || whole : whole) + 120;
  console.log(`\n=== ${[name, ...own].join(" ")}`);
  return new Promise((resolve) => {
    const start = performance.now();
    const child = spawn(process.execPath, ["--expose-gc", join(HERE, `${name}.mjs`), ...own], { stdio: "inherit" });
    const timer = setTimeout(() => child.kill(), limit * 1000);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (code !== 0) {
        console.error(signal ? `${name} was ended: it took longer than ${limit} s.` : `${name} failed (${code}).`);
        process.exitCode = 1;
      }
      console.log(`(${name}: ${((performance.now() - start) / 1000).toFixed(0)} s)`);
      resolve();
    });
  });
}
