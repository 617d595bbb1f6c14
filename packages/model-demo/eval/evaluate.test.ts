import { readFileSync } from "node:fs";
import { LlamaCppProvider } from "@shedkit/provider-llamacpp";
import { afterAll, expect, it } from "vitest";
import { CASES, type EvalCase } from "./cases.js";
import { type CaseResult, runCase } from "./run-case.js";
import { RENAMED } from "./session.js";

// The whole evaluation, which prints its table: `pnpm evaluate`. MODEL names another file, CASES other cases (made by
// train/develop.py), DETAIL=1 prints each case.
const { MODEL: model, CASES: other, DETAIL: detail } = process.env;
const cases: readonly EvalCase[] = other === undefined ? CASES : JSON.parse(readFileSync(other, "utf8"));
const provider = new LlamaCppProvider({ backend: "cpu", gpuLayers: 0 });
afterAll(() => provider.close());

it.each([
  ["the usual names", undefined],
  ["all tools renamed", RENAMED],
])("evaluates the model with %s", { timeout: 1_200_000 }, async (name, renamed) => {
  const results: CaseResult[] = [];
  for (const wanted of cases) results.push(await runCase(wanted, { provider, model, renamed }));
  console.log(`${name}\n${table(results)}`);
  if (detail) console.log(results.map(line).join("\n"));
  expect(results).toHaveLength(cases.length);
});

function table(results: readonly CaseResult[]): string {
  const skills = [...new Set(results.map(({ wanted }) => wanted.skill))];
  const row = (title: string, of: readonly CaseResult[]) => {
    const count = (verdict: string) => of.filter((result) => result.verdict === verdict).length;
    return `| ${title} | ${of.length} | ${count("right")} | ${count("wrong")} | ${count("refused")} |`;
  };
  return [
    "| skill | cases | right | wrong, stated as fact | refused or gave up |",
    "|---|---|---|---|---|",
    ...skills.map((skill) =>
      row(
        skill,
        results.filter(({ wanted }) => wanted.skill === skill),
      ),
    ),
    row("all", results),
  ].join("\n");
}

function line({ wanted, verdict, answer, calls }: CaseResult): string {
  return `${verdict}: "${wanted.ask}" -> ${JSON.stringify(answer)} after ${calls.join(", ") || "no call"}`;
}
