import { mergeConfig } from "vitest/config";
import { shared } from "../../vitest.base.js";

const config = mergeConfig(shared, {});
// Vitest hands these to Node, where "import" would make the `require` of servers and drivers load ES modules.
config.ssr.resolve.conditions = ["@shedkit/source"];

export default config;
