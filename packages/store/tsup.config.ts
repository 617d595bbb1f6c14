import { defineConfig } from "tsup";
import { base } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  entry: {
    index: "src/index.ts",
    backend: "src/backend.ts",
    "conformance/index": "src/conformance/index.ts",
    node: "src/node.ts",
  },
  target: "node20",
});
