import type { ModelParams, ModelRequest } from "@shedkit/provider";
import type { ChatTemplate } from "./chat-template.js";
import type { RenderOptions, TextToolFamily, ThinkingEffort } from "./family.js";

type Thinking = ModelParams["thinking"];

/** Tokens of a thought where the model's template knows no such effort; a high one has no bound. */
const BUDGETS: { readonly [effort in ThinkingEffort]: number } = {
  low: 1024,
  medium: 4096,
  high: Number.POSITIVE_INFINITY,
};

/** What a prompt tells the model of its thinking, where its template can; what is absent is left to the template. */
export function thinkingOptions(thinking: Thinking): Pick<RenderOptions, "thinking" | "effort"> {
  if (thinking === undefined) return {};
  if (typeof thinking === "object") return { thinking: thinking.budgetTokens > 0 };
  return thinking === "off" ? { thinking: false } : { thinking: true, effort: thinking };
}

/**
 * After how many tokens a thought is ended from outside, and with what; infinitely many where the request sets no
 * bound, the family has no such end, or its template tells the model how long to think.
 */
export function thinkingBudget(
  { params: { thinking } }: ModelRequest,
  { thinkingEnd }: TextToolFamily,
  template: ChatTemplate,
): { budget: number; end: string } {
  const budget = budgetOf(thinking, template);
  return thinkingEnd === undefined || budget === Number.POSITIVE_INFINITY
    ? { budget: Number.POSITIVE_INFINITY, end: "" }
    : { budget, end: thinkingEnd };
}

function budgetOf(thinking: Thinking, template: ChatTemplate): number {
  if (typeof thinking === "object") return thinking.budgetTokens;
  if (thinking === undefined || thinking === "off" || template.knowsEffort(thinking)) return Number.POSITIVE_INFINITY;
  return BUDGETS[thinking];
}
