import { mergeConfig } from "vitest/config";
import { shared } from "../../vitest.base.js";

// Servers and workers in processes of their own: on a busy machine all of it takes its time.
const config = mergeConfig(shared, {
  test: { globalSetup: ["test/support/server.ts"], testTimeout: 240_000, hookTimeout: 120_000 },
});
// Vitest hands these to Node, where "import" would make the driver's own `require` load ES modules.
config.ssr.resolve.conditions = ["@shedkit/source"];

export default config;
