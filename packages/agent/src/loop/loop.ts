import { AgenticError } from "@shedkit/types";
import type { Sink } from "../turn/stream-item.js";
import type { TurnOutcome } from "../turn/turn.js";
import { begin, end, outerBoundary, outputProcessing } from "./boundaries.js";
import { assemble, generateAnswer, recordAnswer, recover } from "./model-calls.js";
import { type LoopRun, loopRun } from "./run.js";
import type { AgentLoopState, LoopParts, TurnSpec } from "./state.js";
import { execute } from "./tool-calls.js";

type Running = Exclude<AgentLoopState, { type: "done" }>;

/** One turn as a state machine. Only `effects` reaches outside. */
export class AgentLoop {
  readonly #run: LoopRun;

  constructor(parts: LoopParts, spec: TurnSpec, sink: Sink) {
    this.#run = loopRun(parts, spec, sink);
  }

  /** Ends the turn: what runs is cancelled at once. */
  abort(reason: string): void {
    this.#run.interruption.abort(reason);
  }

  /** Ends the turn because the session ends: calls that wait for leave go on waiting, in the log. */
  suspend(): void {
    this.#run.interruption.sessionEnds = true;
    this.abort("the session ends");
  }

  /** Something waits in the steering queue: what runs is cancelled, and the model is asked again. */
  steer(): void {
    this.#run.interruption.steer();
  }

  /** Runs the turn to its end. Never throws. */
  async run(): Promise<TurnOutcome> {
    const run = this.#run;
    const { parts, spec, observe } = run;
    const stopCounting = parts.log.listen((record) => {
      if (record.type === "conversation") run.messageCount++;
    });
    observe?.({ type: "turnStarted", metadata: spec.metadata });
    let state: AgentLoopState = { type: "begin" };
    try {
      while (state.type !== "done") {
        try {
          state = await next(run, state);
        } catch (error) {
          state = thrown(run, error, state as Running);
        }
      }
    } finally {
      stopCounting();
    }
    const { outcome } = state;
    const error = outcome.type === "failed" ? outcome.error : undefined;
    observe?.({ type: "turnEnded", usage: run.usage, error });
    return outcome;
  }
}

/** One state to the next. */
function next(run: LoopRun, state: Running): Promise<AgentLoopState> {
  switch (state.type) {
    case "begin":
      return begin(run);
    case "outerBoundary":
      return outerBoundary(run);
    case "assemble":
      return assemble(run);
    case "generate":
      return generateAnswer(run, state);
    case "record":
      return recordAnswer(run, state);
    case "recover":
      return recover(run, state);
    case "execute":
      return execute(run);
    case "outputProcessing":
      return outputProcessing(run);
    case "ending":
      return end(run, state);
  }
}

/** What was thrown on the way from a state to the next ends the turn, or gives way to steering. */
function thrown({ interruption }: LoopRun, error: unknown, state: Running): AgentLoopState {
  const failure = AgenticError.from(error);
  // A log that cannot be written any more cannot record its own failure either.
  if (state.type === "ending") return { type: "done", outcome: { type: "failed", error: state.error ?? failure } };
  const steered = interruption.steered && !interruption.aborted && AgenticError.is(error, "cancelled");
  if (steered && state.type !== "begin") return { type: "assemble" };
  return { type: "ending", error: interruption.aborted ?? failure };
}
