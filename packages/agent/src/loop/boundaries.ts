import { normalizeTranscript } from "@shedkit/provider/transcript";
import { recordedError } from "../turn/turn.js";
import { escalate } from "./escalation.js";
import { closeOpenCalls } from "./execution.js";
import { followUps, isSteered, take, takeAll } from "./queue.js";
import { isSuspending, type LoopRun } from "./run.js";
import type { AgentLoopState, StateOf } from "./state.js";
import { TURN_ENDED } from "./texts.js";
import { turnSoFar } from "./turn-so-far.js";

// The states at which a turn takes the next message, and its end.

/** Takes all that waits, and the prompt; or goes on with calls that waited for leave, the prompt behind them. */
export async function begin(run: LoopRun): Promise<AgentLoopState> {
  const { log, spending, memory } = run.parts;
  const { prompt } = run.spec;
  await log.flush(); // what was queued just now is in the state then
  const begun = turnSoFar(run.spec.soFar ?? []);
  if (begun.ended) return { type: "done", outcome: begun.ended };
  if (run.interruption.aborted) return { type: "ending", error: run.interruption.aborted };
  run.sink({ type: "progress", progress: { type: "initializing", step: "turn" } });
  await spending.refresh();
  memory.check(run.sink); // what a program that stopped has left to do
  run.outer = begun.taken + 1;
  run.inner = log.state.openCalls.size > 0 ? Math.max(0, begun.inner - 1) : begun.inner; // running them counts
  run.sumUpAsked = begun.sumUpAsked;
  run.usage = begun.usage;
  run.messageCount += begun.messageCount;
  if (begun.messageCount > 0 && !log.state.suspended) {
    const { replay } = await import("./guard-replay.js");
    const circling = await replay(run.guard, run.spec.soFar ?? []);
    if (circling) return escalate(run, circling);
    if (log.state.openCalls.size > 0) return { type: "execute" };
    return { type: begun.answered ? "outputProcessing" : "assemble" };
  }
  if (log.state.suspended) {
    if (prompt && !run.spec.soFar?.length) await log.append({ type: "queued", queue: "followUp", message: prompt });
    for (const { record, decision } of log.state.approvals.values()) {
      if (!decision) run.sink({ type: "record", record });
    }
    return { type: "execute" };
  }
  await takeAll(log, prompt);
  return { type: "assemble" };
}

/** Takes the next message to work on: one follow-up at a time. */
export async function outerBoundary(run: LoopRun): Promise<AgentLoopState> {
  const { log, config } = run.parts;
  await log.flush();
  if (run.interruption.aborted) return { type: "ending", error: run.interruption.aborted };
  if (!isSteered(log)) {
    const [next, ...others] = followUps(log);
    if (!next) return { type: "ending" };
    const { maxOuterIterations: limit } = config;
    if (run.outer >= limit) {
      run.sink({ type: "progress", progress: { type: "outerLimit", limit, waiting: others.length + 1 } });
      return { type: "ending" };
    }
    await take(log, next);
  }
  run.outer++;
  run.inner = 0;
  run.sumUpAsked = false;
  run.guard.reset();
  return { type: "assemble" };
}

export async function outputProcessing(run: LoopRun): Promise<AgentLoopState> {
  run.parts.memory.check(run.sink);
  return { type: "outerBoundary" };
}

export async function end(run: LoopRun, { error }: StateOf<"ending">): Promise<AgentLoopState> {
  const { log, effects } = run.parts;
  const { turnId } = run.spec;
  const usage = run.usage;
  if (error) {
    if (!isSuspending(run)) {
      await closeOpenCalls(log, effects, "interrupted", () => TURN_ENDED);
      log.state.messages = normalizeTranscript(log.state.messages);
    }
    await log.append({ type: "failedAction", turnId, error: recordedError(error) });
    return { type: "done", outcome: { type: "failed", error } };
  }
  run.sink({ type: "progress", progress: { type: "turnComplete", usage } });
  await log.append({ type: "summary", turnId, messageCount: run.messageCount, usage });
  return { type: "done", outcome: { type: "completed" } };
}
