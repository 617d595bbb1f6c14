import { AgenticError, type ModelIdLike, modelId } from "@shedkit/types";
import { CircuitBreaker } from "./circuit-breaker.js";
import type { AgentAction, ErrorPolicy } from "./error-policy.js";

/** How long the session stays with a fallback before it tries the first model again. */
const PROBE_AFTER_MS = 60_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8000;
/** A provider that asks for more is not waited for. */
const LONGEST_ASKED_MS = 60_000;

/** What follows a failed model call. */
export type Recovery =
  | { type: "again"; waitMs: number }
  | { type: "switch"; from: string; to: string; reason: string }
  /** The trial of the first model failed: back to the one before. */
  | { type: "back" }
  | { type: "reduce" }
  /** `error`: what ends the turn instead of the model's own. */
  | { type: "giveUp"; error?: AgenticError | undefined };

/** Which model a turn asks, and what it does when one fails. */
export class ModelChain {
  readonly #models: readonly ModelIdLike[];
  readonly #policy: ErrorPolicy;
  readonly #breaker: CircuitBreaker;
  #at: number;
  #probing = false;

  /**
   * `switched` is the fallback that the session works with, since when: after a while the first model is tried again.
   */
  constructor(
    models: readonly ModelIdLike[],
    settings: {
      policy: ErrorPolicy;
      threshold: number;
      switched?: { from: string; to: string; at: number } | undefined;
      now: number;
    },
  ) {
    this.#models = models;
    this.#policy = settings.policy;
    this.#breaker = new CircuitBreaker(settings.threshold);
    // One of a turn's own model says nothing of these.
    const isOurs = settings.switched && models.some((model) => modelId(model).name === settings.switched?.from);
    const switched = isOurs ? settings.switched : undefined;
    this.#at = Math.max(0, switched ? models.findIndex((model) => modelId(model).name === switched.to) : 0);
    this.#probing = this.#at > 0 && switched !== undefined && settings.now - switched.at >= PROBE_AFTER_MS;
  }

  /** The model to ask now. */
  get current(): ModelIdLike {
    return this.#models[this.#probing ? 0 : this.#at] as ModelIdLike;
  }

  /** The model answered; says so when it is the first one that answers again. */
  succeeded(): Extract<Recovery, { type: "switch" }> | undefined {
    this.#breaker.succeeded();
    if (!this.#probing) return undefined;
    const from = this.#name(this.#at);
    this.#probing = false;
    this.#at = 0;
    return { type: "switch", from, to: this.#name(0), reason: "The first model answers again." };
  }

  failed(error: AgenticError): Recovery {
    const action = this.#classify(error);
    if (AgenticError.is(action)) return { type: "giveUp", error: action };
    if (action.type === "terminate") return { type: "giveUp" };
    if (action.type === "retryWithReducedContext") return { type: "reduce" };
    if (this.#probing) {
      this.#probing = false;
      return { type: "back" };
    }
    const asked = error.retryAfterMs;
    const verdict = this.#breaker.failed(error.retryable && (asked === undefined || asked <= LONGEST_ASKED_MS));
    if (verdict.type === "notReached") {
      const pause = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (verdict.failures - 1));
      return { type: "again", waitMs: asked ?? pause };
    }
    return this.next(error.message) ?? { type: "giveUp" };
  }

  /** A policy that fails ends the turn, with an error that tells of both. */
  #classify(error: AgenticError): AgentAction | AgenticError {
    try {
      return this.#policy.classify(error);
    } catch (fault) {
      const text = fault instanceof Error ? fault.message : String(fault);
      const message = `The error policy failed (${text}) on: ${error.message}`;
      return new AgenticError("session", message, { reason: "error policy failed" }, { cause: error });
    }
  }

  /** Whether there is a fallback left. */
  get hasNext(): boolean {
    return this.#at + 1 < this.#models.length;
  }

  /** Goes on with the next fallback; nothing where there is none left. */
  next(reason: string): Extract<Recovery, { type: "switch" }> | undefined {
    if (!this.hasNext) return undefined;
    const from = this.#name(this.#at);
    this.#at++;
    return { type: "switch", from, to: this.#name(this.#at), reason };
  }

  #name(index: number): string {
    return modelId(this.#models[index] as ModelIdLike).name;
  }
}
