import { defineConfig } from "tsup";
import { base } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  entry: ["src/index.ts", "src/node.ts", "src/server.ts", "src/server-node.ts"],
  target: "node20",
});
