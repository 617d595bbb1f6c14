import { defineConfig } from "tsup";
import { base } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  entry: ["src/index.ts", "src/internals.ts"],
  target: "node20",
  keepNames: false, // naming each closure of the loop would be a tenth of what a step costs; no class here names itself
});
