import { afterAll, expect, it } from "vitest";
import { LlamaCppProvider } from "@shedkit/provider-llamacpp";
import { CASES } from "./cases.js";
import { type CaseResult, runCase } from "./run-case.js";
import { RENAMED } from "./session.js";

// The whole evaluation, which prints its table: `pnpm evaluate`. MODEL names another file, DETAIL=1 prints each case.
const { MODEL: model, DETAIL: detail } = process.env;
const provider = new LlamaCppProvider({ backend: "cpu", gpuLayers: 0 });
afterAll(() => provider.close());

it.each([
  ["the usual names", undefined],
  ["all tools renamed", RENAMED],
])("evaluates the model with %s", { timeout: 1_200_000 }, async (name, renamed) => {
  const results: CaseResult[] = [];
  for (const wanted of CASES) results.push(await runCase(wanted, { provider, model, renamed }));
  console.log(`${name}\n${table(results)}`);
  if (detail) console.log(results.map(line).join("\n"));
  expect(results).toHaveLength(CASES.length);
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
