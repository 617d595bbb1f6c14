import type { ModelDescription, ModelParams, ModelPrice } from "../contract.js";
import type { ModelTable } from "./models.js";

function model(contextWindow: number, maxOutput: number, price?: ModelPrice): ModelDescription {
  return { contextWindow, maxOutput, input: ["text", "image"], tools: true, ...(price && { price }) };
}

/** https://developers.openai.com/api/docs/models/gpt-5.4, read on that day: standard processing. */
const GPT_5_4: ModelPrice = {
  asOf: "2026-11-30",
  inputPerMillion: 2.5,
  outputPerMillion: 15,
  cacheReadPerMillion: 0.25,
  longPrompt: { aboveTokens: 272_000, inputPerMillion: 5, outputPerMillion: 22.5, cacheReadPerMillion: 0.5 },
};

/** Lists of hosts and resellers, which agree on these, read on that day. OpenAI's page no longer has them. */
function older(inputPerMillion: number, outputPerMillion: number, cacheReadPerMillion: number): ModelPrice {
  return { asOf: "2026-11-30", inputPerMillion, outputPerMillion, cacheReadPerMillion };
}

/**
 * What OpenAI's models take at least; there is a price where OpenAI's own page on the model was read for it, and for the
 * models of the presets. Windows and limits of output: https://developers.openai.com/api/docs/models, one page a model.
 */
export const openaiModels: ModelTable = {
  "gpt-5.4": model(1_050_000, 128_000, GPT_5_4),
  "gpt-5": model(400_000, 128_000),
  "gpt-5-": model(400_000, 128_000),
  "gpt-5.": model(400_000, 128_000),
  "gpt-4.1": model(1_047_576, 32_768),
  "gpt-4.1-": model(1_047_576, 32_768),
  "gpt-4o": model(128_000, 16_384, older(2.5, 10, 1.25)),
  "gpt-4o-2024-05-13": model(128_000, 4096, older(5, 15, 5)),
  "gpt-4o-mini": model(128_000, 16_384, older(0.15, 0.6, 0.075)),
  "gpt-4o-": model(128_000, 16_384),
  o3: model(200_000, 100_000),
  "o4-mini": model(200_000, 100_000),
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
