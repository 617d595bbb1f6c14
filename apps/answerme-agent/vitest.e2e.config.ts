import { defineConfig } from "vitest/config";
import { shared } from "../../vitest.base.js";

/** The built program as a person uses it, in a browser. */
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ["e2e/**/*.test.ts"],
    testTimeout: 300_000, // a bound for what hangs, wide enough for a busy machine
    reporters: ["default", ["json", { outputFile: ".results/e2e.json" }]],
  },
});
