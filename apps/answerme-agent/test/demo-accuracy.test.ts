import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { NodeFileSystem } from "@shedkit/fs/node";
import { ToolPreset } from "@shedkit/harness";
import { demoModelPath } from "@shedkit/model-demo";
import { LlamaCppProvider } from "@shedkit/provider-llamacpp";
import { afterAll, expect, it } from "vitest";
import { chooseModel } from "../src/model-choice.js";
import { type Asked, ask } from "./demo-agent.js";
import { type DemoQuestion, fileQuestions, otherQuestions } from "./demo-questions.js";
import { demoTools } from "./demo-tools.js";

const SEED = 100;
const card = fileURLToPath(new URL("../../../packages/model-demo/MODEL_CARD.md", import.meta.url));

const provider = new LlamaCppProvider({ backend: "cpu" });
afterAll(() => provider.close());

/** Asks as the program does: its settings for this model, its file tools, and a few small tools beside them. */
async function askAll(questions: readonly DemoQuestion[]): Promise<Asked[]> {
  const choice = chooseModel(null, null, {});
  const tools = (root: string) => [
    ...[...ToolPreset.files(new NodeFileSystem(root), choice.files)].filter(
      ({ name }) => !choice.without?.includes(name),
    ),
    ...demoTools(root),
  ];
  const asked: Asked[] = [];
  for (const question of questions) {
    asked.push(await ask(question, { provider, model: demoModelPath, tools, choice }));
  }
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

it("answers as often from made files as its card says", { timeout: 120_000 }, async () => {
  const questions = fileQuestions(SEED, 20);
  expect(report("values in made files", await askAll(questions))).toBeGreaterThanOrEqual(
    promised("values in made files"),
  );
});

it("answers other small questions as often as its card says", { timeout: 120_000 }, async () => {
  expect(report("other small questions", await askAll(otherQuestions(SEED)))).toBeGreaterThanOrEqual(
    promised("other small questions"),
  );
});
