import type { ModelParams, ModelRequest } from "@shedkit/provider";
import type { TextToolFamily } from "./family.js";

/** Whether the model is to think, where its template can tell it; undefined leaves it to the template. */
export function wantsThinking(thinking: ModelParams["thinking"]): boolean | undefined {
  if (thinking === undefined) return undefined;
  return typeof thinking === "object" ? thinking.budgetTokens > 0 : thinking !== "off";
}

/**
 * After how many tokens a thought is ended from outside, and with what; infinitely many where the request sets no bound
 * or the family has no such end.
 */
export function thinkingBudget(
  { params: { thinking } }: ModelRequest,
  { thinkingEnd }: TextToolFamily,
): { budget: number; end: string } {
  if (typeof thinking !== "object" || thinkingEnd === undefined) return { budget: Number.POSITIVE_INFINITY, end: "" };
  return { budget: thinking.budgetTokens, end: thinkingEnd };
}
