import { defineConfig } from "tsup";
import { base } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  entry: ["src/index.ts", "src/internals.ts", "src/node.ts"],
  target: "node20",
  noExternal: ["@sinclair/typebox"],
  external: ["@vscode/ripgrep"],
});
