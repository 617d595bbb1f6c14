import { providerCases } from "@shedkit/provider/conformance";
import { describe, it } from "vitest";
import { opener } from "./open.js";

describe.each([
  ["openai", "gpt-5.4"],
  ["openai", "gpt-4o"],
  ["compatible", "qwen3-8b"],
] as const)("%s, %s", (as, model) => {
  for (const { name, run } of providerCases) it(name, () => run(opener(as, model)));
});
