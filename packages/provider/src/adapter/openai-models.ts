import type { ModelDescription, ModelParams } from "../contract.js";
import type { ModelTable } from "./models.js";

const AS_OF = "2025-11-30";

function model(
  contextWindow: number,
  maxOutput: number,
  [inputPerMillion, cacheReadPerMillion, outputPerMillion]: [number, number, number],
): ModelDescription {
  return {
    contextWindow,
    maxOutput,
    input: ["text", "image"],
    tools: true,
    price: { inputPerMillion, cacheReadPerMillion, outputPerMillion, asOf: AS_OF },
  };
}

/** OpenAI's list prices and limits on the day in `price.asOf`, from its pricing and models pages. */
export const openaiModels: ModelTable = {
  "gpt-5.": { contextWindow: 400_000, maxOutput: 128_000, input: ["text", "image"], tools: true },
  "gpt-5": model(400_000, 128_000, [1.25, 0.125, 10]),
  "gpt-5-mini": model(400_000, 128_000, [0.25, 0.025, 2]),
  "gpt-5-nano": model(400_000, 128_000, [0.05, 0.005, 0.4]),
  "gpt-4.1": model(1_047_576, 32_768, [2, 0.5, 8]),
  "gpt-4.1-mini": model(1_047_576, 32_768, [0.4, 0.1, 1.6]),
  "gpt-4.1-nano": model(1_047_576, 32_768, [0.1, 0.025, 0.4]),
  "gpt-4o": model(128_000, 16_384, [2.5, 1.25, 10]),
  "gpt-4o-mini": model(128_000, 16_384, [0.15, 0.075, 0.6]),
  o3: model(200_000, 100_000, [2, 0.5, 8]),
  "o4-mini": model(200_000, 100_000, [1.1, 0.275, 4.4]),
};

/** Names of OpenAI's own models. */
export function isOpenaiModel(name: string): boolean {
  return /^(gpt-|chatgpt-|codex-|o\d|ft:)/.test(name);
}

/** Models that think before they answer, and then take no sampling parameters. */
export function isReasoningModel(name: string): boolean {
  return /^(o\d|codex-|gpt-[5-9](?!.*chat))/.test(name);
}

/** How hard a model of OpenAI's is to think; undefined for its own default. */
export function reasoningEffort(thinking: ModelParams["thinking"], model: string): string | undefined {
  if (thinking === undefined) return undefined;
  // Models of before cannot be kept from thinking.
  if (thinking === "off") return /^o\d/.test(model) ? "low" : /^gpt-5(-|$)/.test(model) ? "minimal" : "none";
  if (typeof thinking === "string") return thinking;
  return thinking.budgetTokens < 2048 ? "low" : thinking.budgetTokens < 8192 ? "medium" : "high";
}
