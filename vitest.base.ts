import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Workspace packages are tested from their sources: no build has to run first. */
const conditions = ["@shedkit/source", "node", "import", "default"];

/** Shared by every package. `expectTypeOf` is checked by `tsc`, in the typecheck task. */
export const shared = defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["test/**/*.test.ts"],
    environment: "node",
    pool: "forks",
    setupFiles: [fileURLToPath(new URL("./vitest.setup.ts", import.meta.url))],
    testTimeout: 60_000, // a bound for what hangs, wide enough for a busy machine
    hookTimeout: 60_000,
    unstubEnvs: true,
    restoreMocks: true,
    reporters: ["default", ["json", { outputFile: ".results/vitest.json" }]],
    coverage: { provider: "v8", include: ["src/**"], reporter: ["text", "lcov"], reportsDirectory: "coverage" },
  },
});
