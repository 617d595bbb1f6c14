import { demoModelPath, demoModelSettings } from "@shedkit/model-demo";
import type { ModelChoice } from "../model-choice.js";
import { tourQuestions } from "../tour.js";

/** What the program does for somebody who wants more than the demonstration. */
const REAL_MODEL = "For a real model: --model unsloth/gemma-4-E2B-it-GGUF";

/** The model that ships with the program, and what such a small one needs. */
export function demoModel(): ModelChoice {
  const { maxSteps, ...settings } = demoModelSettings;
  return {
    notice: {
      model: "shed-demo",
      text:
        "Model: shed-demo, a 3 MB demonstration that comes with the program. It looks up values and lines in files, " +
        `lists, counts and calculates, is often wrong, and knows nothing else. ${REAL_MODEL}`,
    },
    stuck:
      "The demonstration model gets nowhere with this. It looks up values, headings and lines in files, lists and counts " +
      `them, calculates, remembers, and writes a few words into one: "${tourQuestions[0]}". ${REAL_MODEL}`,
    attaches: false,
    ...settings,
    files: { read: { maxTokens: 450 } },
    groups: ["files", "search", "shell", "memory"],
    maxSteps,
    preset: async () => (await import("@shedkit/harness")).RouterPreset.huggingfaceCpu(demoModelPath),
  };
}
