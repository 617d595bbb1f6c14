import { mergeConfig } from "vitest/config";
import { shared } from "../../vitest.base.js";

// The files share what they have loaded: to load it anew for each takes more than most of their tests.
const config = mergeConfig(shared, { test: { isolate: false } });
// Vitest hands these to Node, where "import" would make the `require` of servers and drivers load ES modules.
config.ssr.resolve.conditions = ["@shedkit/source"];

export default config;
