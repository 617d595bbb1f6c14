import { defineConfig } from "vitest/config";
import { shared } from "../../vitest.base.js";

/** The page in a real browser, from the built package. */
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    include: ["e2e/**/*.test.ts"],
    testTimeout: 300_000, // a bound for what hangs, wide enough for a busy machine
    reporters: ["default", ["json", { outputFile: ".results/e2e.json" }]],
  },
});
