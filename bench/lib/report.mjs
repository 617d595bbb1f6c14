import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, totalmem } from "node:os";
import { join } from "node:path";
import { versions } from "./peers.mjs";

/** Where the figures go, as JSON. Ignored by git. */
const RESULTS = join(import.meta.dirname, "..", ".results");

/** Whether less is measured: smaller, noisier, soon done. */
export const quick = process.argv.includes("--quick");

/** What options name (`--embedder NAME`) is no part. */
const only = process.argv.slice(2).filter((arg, i, all) => !arg.startsWith("--") && !/^--(?!quick$)/.test(all[i - 1]));

/** Those that are measured: all, unless parts of names are given; `always` is beside them. Ends the program where one fits none. */
export function wantedOf(names, always) {
  const strange = only.find((part) => !names.some((name) => name.includes(part)));
  if (strange !== undefined) {
    console.error(`"${strange}" is no part of this measurement. It has: ${names.join("; ")}.`);
    process.exit(2);
  }
  return names.filter((name) => only.length === 0 || name === always || only.some((part) => name.includes(part)));
}

/**
 * Prints tables and keeps them, with the figures they stand on, in `.results/NAME.json`, or `.results/quick/NAME.json`. A table:
 * `{ key, title, head, rows }` with rows of texts; the first column names what was measured.
 */
export function report(name, { tables, data, notes = [] }) {
  for (const { title, head, rows } of tables) print(title, head, rows);
  for (const note of notes) console.log(note);
  if (only.length > 0) return; // a part of it is no result
  const machine = {
    node: process.version,
    cpu: cpus()[0]?.model,
    cores: availableParallelism(), // that it may use
    memoryGB: Math.round(totalmem() / 2 ** 30),
  };
  const folder = quick ? join(RESULTS, "quick") : RESULTS;
  mkdirSync(folder, { recursive: true });
  const at = new Date().toISOString();
  writeFileSync(
    join(folder, `${name}.json`),
    `${JSON.stringify({ name, at, quick, machine, versions: versions(), tables, notes, data }, null, 1)}\n`,
  );
}

/** The last results of whole measurements. */
export function results() {
  if (!existsSync(RESULTS)) return [];
  return readdirSync(RESULTS)
    .filter((file) => file.endsWith(".json"))
    .map((file) => JSON.parse(readFileSync(join(RESULTS, file), "utf8")));
}

function print(title, head, rows) {
  console.log(`\n${title}`);
  const all = [head, ...rows];
  const widths = head.map((_, i) => Math.max(...all.map((row) => row[i].length)));
  for (const row of all) {
    console.log(`  ${row.map((text, i) => (i === 0 ? text.padEnd(widths[i]) : text.padStart(widths[i]))).join("  ")}`);
  }
}

/** 0.0123 -> 0.012, 12.34 -> 12.3, 1234.5 -> 1,235 */
export function number(value) {
  if (value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString("en");
  if (size >= 10) return value.toFixed(1);
  if (size >= 1 || value === 0) return value.toFixed(2);
  return value.toPrecision(2);
}

/** The median, and the quartiles behind it. */
export function spread(stat) {
  return stat === undefined ? "–" : `${number(stat.median)} (${number(stat.low)}–${number(stat.high)})`;
}
