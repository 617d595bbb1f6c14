import { AgenticError } from "@shedkit/types";
import type { Generation } from "./generation.js";

// What the loop says to the model, and to whoever reads its errors.

export const SUM_UP =
  "You have used all the tool calls of this turn. Do not call any more tools: answer now with what you have found, and say what is missing.";
export const PAST_LIMIT = "The call was not run: the turn has used all its tool calls.";
export const TURN_ENDED = "The call was interrupted: the turn ended before its result.";
/** Why an answer is withdrawn, and what the model is told. */
export const EMPTY = { reason: "The answer was empty.", text: "Your answer was empty. Answer, or say why you cannot." };
export const BARE_NUMBER = {
  reason: "The answer was a bare number.",
  text: "Your answer was nothing but a number, and no number was asked for. If it is the answer, say what it is; else answer.",
};

export function pastLimit(maxSteps: number): AgenticError {
  return new AgenticError(
    "session",
    `The model went on calling tools past the limit of ${maxSteps} rounds. Ask again to continue, or allow more of them (maxSteps).`,
    { reason: "inner limit" },
  );
}

export function refusal(outputs: Generation["outputs"], provider: string, model: string): AgenticError {
  const text = outputs.flatMap((output) => (output.type === "refusal" ? [output.text] : [])).join("");
  return new AgenticError("generation", text || `The model "${model}" refused to answer.`, {
    kind: "refusal",
    provider,
    model,
  });
}
