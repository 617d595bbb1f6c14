import { demoModelPath } from "@shedkit/model-demo";
import type { ModelChoice } from "../model-choice.js";
import { tourQuestions } from "../tour.js";

/** What the program does for somebody who wants more than the demonstration. */
const REAL_MODEL = "For a real model: --model unsloth/gemma-4-E2B-it-GGUF";

/** The model that ships with the program, and what such a small one needs. */
export function demoModel(): ModelChoice {
  return {
    notice: {
      model: "shed-demo",
      text:
        "Model: shed-demo, a 2 MB demonstration that comes with the program. It looks up values in files of a dozen " +
        `lines, is often wrong, and knows nothing else. ${REAL_MODEL}`,
    },
    stuck:
      "The demonstration model gets nowhere with this. It looks up values, headings and first lines in small files, and " +
      `writes a word into one: "${tourQuestions[0]}". ${REAL_MODEL}`,
    attaches: false,
    // It takes nothing to heart that it is told on the way.
    config: { modelParams: { temperature: 0, maxTokens: 160 }, contextPressureThreshold: 0 },
    // Where there is no tool for what is asked it looks for one again and again.
    loopDetection: { toolCallMaxRepeats: 2, maxRedirects: 0, temperatureDelta: 0, detectVacuousAnswers: false },
    memory: { observationTriggerTokens: 0, reflectionTriggerTokens: 0 },
    // Its window of 2,048 tokens, of about two bytes each, holds the conversation, the tools and what they return;
    // past some 1,200 it errs more.
    context: { window: 1300, keepRecentTokens: 250, summaryTokens: 60 },
    files: { read: { lineNumbers: false, maxTokens: 450 } },
    groups: ["files"],
    // A tool that it was not trained on keeps it searching: with `list` 9 of 12 questions of the tour, without all.
    without: ["list"],
    // Eight calls of tools, then the answer: a small model may go round in circles.
    maxSteps: 8,
    preset: async () => (await import("@shedkit/harness")).RouterPreset.huggingfaceCpu(demoModelPath),
  };
}
