import { providerCases } from "@shedkit/provider/conformance";
import { describe, it } from "vitest";
import { opener } from "./open.js";

describe("OpenAI itself", () => {
  for (const { name, run } of providerCases) it(name, () => run(opener("openai", "gpt-5-mini")));
});

describe("a server that speaks like it", () => {
  for (const { name, run } of providerCases) it(name, () => run(opener("compatible", "qwen3-8b")));
});
