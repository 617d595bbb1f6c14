import { AgenticError } from "@shedkit/types";

/** What the loop does about an error of a model call. */
export type AgentAction =
  /** Compacts the conversation and asks again. Ends the turn where it cannot be made smaller. */
  | { type: "retryWithReducedContext" }
  /** Asks again: the same model until the circuit breaker opens, then the next fallback. */
  | { type: "switchModel" }
  | { type: "terminate" };

/** From errors to actions. The error keeps its class from the provider to here. */
export interface ErrorPolicy {
  classify(error: AgenticError): AgentAction;
}

const SWITCH: ReadonlySet<string> = new Set(["rateLimit", "overloaded", "network", "timeout", "server"]);

/**
 * An overflow reduces; what may be better elsewhere or later switches, and so does a backend that is not there (a model
 * file, its hub, a package); all else ends the turn.
 */
export const defaultErrorPolicy: ErrorPolicy = {
  classify: (error) => {
    if (AgenticError.is(error, "provider")) return { type: "switchModel" };
    if (!AgenticError.is(error, "generation")) return { type: "terminate" };
    const { kind } = error.details;
    if (kind === "contextOverflow") return { type: "retryWithReducedContext" };
    return { type: SWITCH.has(kind) ? "switchModel" : "terminate" };
  },
};
