import { mergeConfig } from "vitest/config";
import config from "./vitest.config.js";

// More sessions, workers and kills than the tests have time for: `pnpm soak`.
export default mergeConfig(config, {
  test: {
    env: {
      KILL_SESSIONS: process.env.KILL_SESSIONS ?? "1000",
      KILL_WORKERS: process.env.KILL_WORKERS ?? "4",
      KILL_COUNT: process.env.KILL_COUNT ?? "40",
    },
  },
});
