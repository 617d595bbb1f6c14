import { mergeConfig } from "vitest/config";
import { shared } from "../../../vitest.base.js";

export default mergeConfig(shared, { test: { include: ["eval/**/*.test.ts"] } });
