import { type AgenticError, noUsage, type SerializedError, type Usage } from "@shedkit/types";
import { reviveError, type Turn } from "./turn.js";

/** What `ask` came to. A turn that fails half-way is no exception: it is an answer of type `failed`. */
export type Answer<T = undefined> =
  | {
      type: "complete";
      isComplete: true;
      text: string;
      /** With an output schema: the answer, validated. */
      value: T;
      usage: Usage;
      /** The text. */
      intoResult(): string;
    }
  | {
      type: "failed";
      isComplete: false;
      /** What was said before the failure. */
      text: string;
      partialText: string;
      error: AgenticError;
      usage: Usage;
      /** Throws `error`. */
      intoResult(): never;
    };

/** The answer of a completed turn with the value read from it. */
export function completeAnswer<T>(text: string, value: T, usage: Usage): Answer<T> {
  return { type: "complete", isComplete: true, text, value, usage, intoResult: () => text };
}

export function failedAnswer(text: string, error: AgenticError, usage: Usage): Answer<never> {
  return {
    type: "failed",
    isComplete: false,
    text,
    partialText: text,
    error,
    usage,
    intoResult: () => {
      throw error;
    },
  };
}

/** A turn as an answer. */
export function answerOf(turn: Turn): Answer {
  const usage = turn.usage ?? noUsage;
  return turn.failure ? failedAnswer(turn.text, turn.failure, usage) : completeAnswer(turn.text, undefined, usage);
}

/** An answer that travelled. Throws what kept the turn from starting. */
export function answerFrom(
  reply:
    | { type: "complete"; text: string; value?: unknown; usage: Usage }
    | { type: "failed"; text: string; error: SerializedError; usage: Usage }
    | { type: "refused"; error: SerializedError },
): Answer<unknown> {
  if (reply.type === "refused") throw reviveError(reply.error);
  if (reply.type === "failed") return failedAnswer(reply.text, reviveError(reply.error), reply.usage);
  return completeAnswer(reply.text, reply.value, reply.usage);
}
