import { providerCases } from "@shedkit/provider/conformance";
import { describe, it } from "vitest";
import { opener } from "./open.js";

describe.each([
  ["anthropic", "claude-sonnet-4-5"],
  ["anthropic", "claude-opus-5-5"],
  ["compatible", "qwen3-8b"],
] as const)("%s, %s", (as, model) => {
  for (const { name, run } of providerCases) it(name, () => run(opener(as, model)));
});
