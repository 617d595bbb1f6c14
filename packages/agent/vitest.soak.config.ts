import { mergeConfig } from "vitest/config";
import config from "./vitest.config.js";

// Many more kills than the tests have time for: `pnpm soak`. KILL_SEED repeats a run.
export default mergeConfig(config, {
  test: {
    env: { KILL_POINTS: process.env.KILL_POINTS ?? "200" },
  },
});
