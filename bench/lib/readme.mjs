import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { results } from "./report.mjs";

const ROOT = join(import.meta.dirname, "..", "..");
const FILES = ["README.md", "ARCHITECTURE.md", "bench/README.md", "packages/*/README.md", "apps/*/README.md"];
/** <!-- bench: NAME/KEY --> ... <!-- /bench -->, where KEY is a table of that measurement. */
const BLOCK = /<!-- bench: ([\w-]+)\/([\w-]+) -->[\s\S]*?<!-- \/bench -->/g;

/** Puts the tables of the last results into the READMEs, between their marks. */
export function writeTables() {
  const found = new Map(results().map((result) => [result.name, result]));
  for (const file of globSync(FILES, { cwd: ROOT })) {
    const path = join(ROOT, file);
    const before = readFileSync(path, "utf8");
    const after = before.replace(BLOCK, (block, name, key) => {
      const result = found.get(name);
      const table = result?.tables.find((each) => each.key === key);
      if (table === undefined) {
        console.log(`${file}: ${name}/${key}: ${result ? "no such table" : "not measured yet"}, left as it is`);
        return block;
      }
      return `<!-- bench: ${name}/${key} -->\n${markdown(table, result)}\n<!-- /bench -->`;
    });
    if (after === before) continue;
    writeFileSync(path, after);
    console.log(`${file}: written`);
  }
}

function markdown({ title, head, rows }, { at, machine, notes }) {
  const table = [head, ...rows].map((cells) => cells.map((cell) => cell.replaceAll("|", "\\|")));
  // Columns of the same width, as the formatter wants them.
  const widths = head.map((_, i) => Math.max(i === 0 ? 3 : 4, ...table.map((cells) => [...(cells[i] ?? "")].length)));
  const line = (cells) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(" | ")} |`;
  const rule = line(widths.map((width, i) => (i === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)));
  const on = `${at.slice(0, 10)}, Node ${machine.node.slice(1)}, ${machine.cores} core${machine.cores === 1 ? "" : "s"} (${machine.cpu})`;
  const failed = notes.filter((note) => /failed|stopped|longer than|left out/.test(note));
  return [
    `**${title}** (${on})`,
    "",
    line(table[0]),
    rule,
    ...table.slice(1).map(line),
    ...(failed.length > 0 ? ["", ...failed.map((note) => `${note}  `)] : []),
  ].join("\n");
}
