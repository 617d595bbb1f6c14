import { afterAll, expect, it } from "vitest";
import { type Asked, DemoAgent } from "./demo-agent.js";
import { type DemoQuestion, fileQuestions, otherQuestions, ownQuestions } from "./demo-questions.js";

const SEED = 100;

const agent = new DemoAgent();
afterAll(() => agent.close());

async function askAll(questions: readonly DemoQuestion[]): Promise<Asked[]> {
  const asked: Asked[] = [];
  for (const question of questions) asked.push(await agent.ask(question));
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

// A little under what was measured: processors round differently.
it.each([
  ["values in made files", fileQuestions(SEED, 20), 17],
  ["headings, first lines, writing", ownQuestions(SEED, 9), 7],
  ["counting, calculating, remembering, searching", otherQuestions(SEED), 5],
])("the program's own session answers: %s", { timeout: 120_000 }, async (kind, questions, least) => {
  expect(report(kind, await askAll(questions))).toBeGreaterThanOrEqual(least);
});
