import { defineConfig } from "tsup";
import { base } from "../../tsup.base.js";

// Without keepNames the bundler would call AgenticError "_AgenticError", in stacks and in what Node prints of it.
export default defineConfig({ ...base, entry: ["src/index.ts"], target: "node20", keepNames: true });
