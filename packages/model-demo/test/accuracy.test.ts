import { LlamaCppProvider } from "@shedkit/provider-llamacpp";
import { afterAll, expect, it } from "vitest";
import { CASES } from "../eval/cases.js";
import { type CaseResult, runCase } from "../eval/run-case.js";

// A part of the evaluation, the same each time, so that it takes seconds; all of it is asked by `pnpm evaluate`.
const EVERY = 2;
// A little under what was measured, 55 right and 2 wrong: processors round differently.
const LEAST_RIGHT = 52;
const MOST_WRONG = 4;

const provider = new LlamaCppProvider({ backend: "cpu", gpuLayers: 0 });
afterAll(() => provider.close());

it("answers through the agent as often as its card says", { timeout: 300_000 }, async () => {
  const results: CaseResult[] = [];
  for (const wanted of CASES.filter((_, i) => i % EVERY === 0)) results.push(await runCase(wanted, { provider }));
  const count = (verdict: string) => results.filter((result) => result.verdict === verdict).length;
  console.log(`${count("right")} right, ${count("wrong")} wrong, ${count("refused")} refused of ${results.length}`);
  expect(count("right")).toBeGreaterThanOrEqual(LEAST_RIGHT);
  expect(count("wrong")).toBeLessThanOrEqual(MOST_WRONG);
});
