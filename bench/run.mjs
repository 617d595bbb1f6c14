// Runs measurements: pnpm bench [NAME ...] [PART ...] [--quick]; pnpm bench --list; pnpm bench --readme
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SHARES } from "./lib/shares.mjs";

const HERE = import.meta.dirname;
/**
 * In the order in which they run. `small`: part of `--quick` too. `untimed`: counts tokens or files, more than time. `parts`: takes
 * names of what it measures. `options`: it has some of its own.
 */
const MEASUREMENTS = {
  "turn-overhead": { small: true, parts: true },
  "tool-loop": { small: true, parts: true },
  "long-session": { small: true, parts: true },
  "context-cost": { small: true, parts: true, data: true, untimed: true },
  "shed-search": { small: true, data: true, options: ["data", "embedder"] },
  sessions: { small: true, parts: true },
  "install-size": { small: true, parts: true, untimed: true },
  "local-generation": { small: true, options: ["model", "width", "layers", "threads", "rounds", "tokens"] },
  types: { small: true },
  dispatch: { small: true },
  "provider-overhead": {},
  "agent-steps": { parts: true },
  tools: { parts: true },
  "dependency-sizes": { untimed: true },
};
const names = Object.keys(MEASUREMENTS);
const own = names.flatMap((name) => MEASUREMENTS[name].options ?? []);
try {
  await main(parsed());
} catch (fault) {
  console.error(fault.message);
  process.exitCode = 2;
}

function parsed() {
  const flags = Object.fromEntries(["quick", "list", "help", "readme"].map((name) => [name, { type: "boolean" }]));
  const texts = Object.fromEntries(own.map((name) => [name, { type: "string" }]));
  const { values, positionals } = parseArgs({ options: { ...flags, ...texts }, allowPositionals: true });
  const asked = positionals.filter((each) => names.includes(each));
  const parts = positionals.filter((each) => !names.includes(each));
  if (asked.length === 0 && parts.length > 0)
    throw new Error(`There is no measurement "${parts[0]}". pnpm bench --list has them all.`);
  const whole = asked.find((name) => !MEASUREMENTS[name].parts);
  if (whole !== undefined && parts.length > 0) throw new Error(`${whole} has no parts, such as "${parts[0]}".`);
  for (const option of own) {
    const of = names.find((name) => MEASUREMENTS[name].options?.includes(option));
    if (values[option] !== undefined && (asked.length !== 1 || asked[0] !== of))
      throw new Error(`--${option} is an option of one measurement: pnpm bench ${of} --${option} ...`);
  }
  return { ...values, asked, args: process.argv.slice(2).filter((each) => !asked.includes(each)) };
}

async function main({ quick = false, list, help, readme, asked, args }) {
  if (list || help) {
    console.log("pnpm bench [NAME ...] [--quick], where NAME is one of these; bench/README.md tells of each:");
    for (const name of names) console.log(`  ${name}: some ${SHARES[name][0]} s`);
    return;
  }
  if (!existsSync(join(HERE, "node_modules")))
    throw new Error("What is measured against is not installed: pnpm build, then pnpm --dir bench install.");
  if (readme) return (await import("./lib/readme.mjs")).writeTables();
  const wanted = asked.length > 0 ? asked : names.filter((name) => !quick || MEASUREMENTS[name].small);
  if (wanted.some((name) => MEASUREMENTS[name].data) && !existsSync(join(HERE, ".data"))) await one("data", [], quick);
  const started = performance.now();
  // What counts tokens and files is in no other's way: at the same time, where there is little of it.
  const beside = quick ? wanted.filter((name) => MEASUREMENTS[name].untimed) : [];
  for (const name of wanted) {
    if (beside.includes(name)) continue;
    await one(name, args, quick);
    // The search with an embedder, for the figures that READMEs have of it: where everything is measured.
    if (name === "shed-search" && !quick && asked.length === 0)
      await one(name, ["--embedder", "sentence-encoder"], quick, SHARES["shed-search-embedder"]);
  }
  await Promise.all(beside.map((name) => one(name, args, quick)));
  const minutes = (performance.now() - started) / 60_000;
  if (wanted.length > 1) console.log(`\n${wanted.length} measurements in ${minutes.toFixed(1)} minutes.`);
}

/** A measurement in a process of its own, which is ended when it takes far longer than its share. */
function one(name, args, quick, [whole, small] = SHARES[name] ?? [300, 300]) {
  const limit = 2 * (quick ? small || whole : whole) + 120;
  console.log(`\n=== ${[name, ...args].join(" ")}`);
  return new Promise((resolve) => {
    const start = performance.now();
    const child = spawn(process.execPath, ["--expose-gc", join(HERE, `${name}.mjs`), ...args], { stdio: "inherit" });
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
