import { noUsage, type Usage } from "@shedkit/types";
import { type ObservationBody, observing } from "../observer.js";
import type { Sink } from "../turn/stream-item.js";
import { Interruption } from "./interruption.js";
import { LoopGuard } from "./loop-guard.js";
import { ModelChain } from "./recovery.js";
import type { LoopParts, TurnSpec } from "./state.js";

/** One run of the loop: what its states share, and how far it is. */
export interface LoopRun {
  readonly parts: LoopParts;
  readonly spec: TurnSpec;
  readonly sink: Sink;
  readonly observe: ((body: ObservationBody) => void) | undefined;
  readonly guard: LoopGuard;
  readonly models: ModelChain;
  readonly interruption: Interruption;
  /** What backends have been heard to warn of. */
  readonly warned: Set<string>;
  /** Messages that it has worked on. */
  outer: number;
  /** Steps with calls since the newest of them. */
  inner: number;
  /** Whether the model was told that it has no steps left. */
  sumUpAsked: boolean;
  usage: Usage;
  /** Messages that it has stored. */
  messageCount: number;
}

export function loopRun(parts: LoopParts, spec: TurnSpec, sink: Sink): LoopRun {
  const { observer, sessionId, effects, errorPolicy: policy, config, log } = parts;
  const models = new ModelChain(spec.models, {
    policy,
    threshold: config.circuitBreakerThreshold,
    switched: spec.ownModel ? undefined : log.state.switched,
    now: effects.now(),
  });
  return {
    parts,
    spec,
    sink,
    observe: observer && observing(observer, sessionId, spec.turnId, () => effects.now()),
    guard: new LoopGuard(parts.loopDetection, parts.tools, () => models.hasNext),
    models,
    interruption: new Interruption(),
    warned: new Set(),
    outer: 0,
    inner: 0,
    sumUpAsked: false,
    usage: noUsage,
    messageCount: 0,
  };
}

/** Whether the session ends while calls wait for leave. */
export function isSuspending({ interruption, parts }: LoopRun): boolean {
  return interruption.sessionEnds && parts.log.state.suspended;
}
