import { defineConfig } from "tsup";
import { base } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  entry: ["src/index.ts", "src/adapter.ts", "src/conformance.ts", "src/schema.ts", "src/transcript.ts"],
  target: "node20",
});
