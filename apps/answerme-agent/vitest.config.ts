import { mergeConfig } from "vitest/config";
import { shared } from "../../vitest.base.js";

/** Most tests run the program, some several times; on a busy machine that takes its time. */
export default mergeConfig(shared, { test: { testTimeout: 60_000 } });
