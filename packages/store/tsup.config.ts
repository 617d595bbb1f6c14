import { defineConfig } from "tsup";
import { base } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  entry: { index: "src/index.ts", "conformance/index": "src/conformance/index.ts" },
  target: "node20",
});
