// Lists the measurements, or runs one of them: pnpm bench [NAME] [ARGUMENTS]
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const HERE = import.meta.dirname;
const NO_MEASUREMENT = new Set(["run.mjs", "data.mjs"]);
const names = readdirSync(HERE)
  .filter((file) => file.endsWith(".mjs") && !NO_MEASUREMENT.has(file))
  .map((file) => file.slice(0, -".mjs".length))
  .sort();

const [name, ...rest] = process.argv.slice(2);
if (name === undefined || !names.includes(name)) {
  if (name !== undefined) console.error(`There is no measurement "${name}".`);
  console.log(`pnpm bench NAME [ARGUMENTS], where NAME is one of: ${names.join(", ")}. bench/README.md tells of each.`);
  process.exitCode = name === undefined ? 0 : 2;
} else if (!existsSync(join(HERE, "node_modules"))) {
  console.error("What is measured against is not installed: pnpm build, then pnpm --dir bench install.");
  process.exitCode = 2;
} else {
  const child = spawn(process.execPath, ["--expose-gc", join(HERE, `${name}.mjs`), ...rest], { stdio: "inherit" });
  child.on("close", (code, signal) => {
    process.exitCode = signal === null ? (code ?? 1) : 1;
  });
}
