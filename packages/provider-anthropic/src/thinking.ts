import type { ModelParams } from "@shedkit/provider";
import type { Block } from "./content.js";
import type { Abilities } from "./models.js";

const BUDGETS = { low: 2048, medium: 8192, high: 24_000 } as const;
const LEAST_BUDGET = 1024;

/** How much is thought, and the limit of output that goes with it. */
export interface Thinking {
  maxTokens: number;
  thinking?: Block;
  effort?: string;
  on: boolean;
}

/** `maxOutput` is the most that the model can say. */
export function thinkingOf(params: ModelParams, maxOutput: number, abilities: Abilities): Thinking {
  const { thinking, maxTokens } = params;
  const most = maxTokens ?? Math.min(maxOutput, 32_000);
  if (thinking === undefined) return { maxTokens: most, on: false };
  if (thinking === "off") {
    if (!abilities.noThinking) return { maxTokens: most, on: true, effort: "low" };
    return { maxTokens: most, on: false, ...(abilities.adaptiveThinking && { thinking: { type: "disabled" } }) };
  }
  // Some models leave the text of their thinking out unless they are asked for it.
  const display = abilities.display ? { display: "summarized" } : {};
  if (abilities.adaptiveThinking)
    return { maxTokens: most, on: true, thinking: { type: "adaptive", ...display }, effort: effortOf(thinking) };
  const wanted = typeof thinking === "string" ? BUDGETS[thinking] : thinking.budgetTokens;
  // The budget is part of the limit: where the limit was left to us, there is room for an answer beside it.
  const limit = maxTokens ?? Math.min(maxOutput, wanted + 8192);
  const budget_tokens = Math.min(Math.max(wanted, LEAST_BUDGET), limit - 1);
  if (budget_tokens < LEAST_BUDGET) return { maxTokens: limit, on: false };
  return { maxTokens: limit, on: true, thinking: { type: "enabled", budget_tokens } };
}

function effortOf(thinking: Exclude<ModelParams["thinking"], undefined | "off">): string {
  if (typeof thinking === "string") return thinking;
  return thinking.budgetTokens <= BUDGETS.low ? "low" : thinking.budgetTokens <= BUDGETS.medium ? "medium" : "high";
}
