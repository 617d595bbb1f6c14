import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { type Asked, DemoAgent } from "./demo-agent.js";
import { type DemoQuestion, fileQuestions, otherQuestions, ownQuestions } from "./demo-questions.js";

const SEED = 100;
const card = fileURLToPath(new URL("../../../packages/model-demo/MODEL_CARD.md", import.meta.url));

const agent = new DemoAgent();
afterAll(() => agent.close());

async function askAll(questions: readonly DemoQuestion[], options: { withTools: boolean }): Promise<Asked[]> {
  const asked: Asked[] = [];
  for (const question of questions) asked.push(await agent.ask(question, options));
  return asked;
}

function report(name: string, asked: readonly Asked[]): number {
  const right = asked.filter((one) => one.right).length;
  const wrong = asked.filter((one) => !one.right);
  console.log(
    [
      `${name}: ${right} of ${asked.length} right`,
      ...wrong.map(
        ({ question, answer, calls }) =>
          `  "${question.question}" is ${question.says}; said "${answer}" after ${calls.join(", ")}`,
      ),
    ].join("\n"),
  );
  return right;
}

/** What the model card promises: "at least N of M". */
function promised(kind: string): number {
  const line = new RegExp(`${kind}.*at least (\\d+) of \\d+`, "i").exec(readFileSync(card, "utf8"));
  if (!line) throw new Error(`The model card says no "at least N of M" about ${kind}.`);
  return Number(line[1]);
}

it.each([
  ["values in made files", fileQuestions(SEED, 20), { withTools: false }],
  ["headings, first lines, writing", ownQuestions(SEED, 9), { withTools: false }],
  ["with tools that the program does not offer", otherQuestions(SEED), { withTools: true }],
])("answers as often as its card says: %s", { timeout: 120_000 }, async (kind, questions, options) => {
  expect(report(kind, await askAll(questions, options))).toBeGreaterThanOrEqual(promised(kind));
});
