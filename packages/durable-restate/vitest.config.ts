import { mergeConfig } from "vitest/config";
import { shared } from "../../vitest.base.js";

const config = mergeConfig(shared, { test: { globalSetup: ["test/support/server.ts"] } });
// Vitest hands these to Node, where "import" would make the driver's own `require` load ES modules.
config.ssr.resolve.conditions = ["@shedkit/source"];

export default config;
