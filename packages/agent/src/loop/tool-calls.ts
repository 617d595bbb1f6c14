import { escalate } from "./escalation.js";
import { closeOpenCalls, executeCalls } from "./execution.js";
import { isSuspending, type LoopRun } from "./run.js";
import type { AgentLoopState } from "./state.js";
import { PAST_LIMIT, pastLimit } from "./texts.js";

/** The state in which the calls of a step run. */
export async function execute(run: LoopRun): Promise<AgentLoopState> {
  const { effects, log, tools, config, permissions, memory } = run.parts;
  const { turnId, maxSteps } = run.spec;
  if (run.inner++ >= maxSteps) {
    await closeOpenCalls(log, effects, "skipped", () => PAST_LIMIT);
    return { type: "ending", error: pastLimit(maxSteps) };
  }
  const calls = [...log.state.openCalls.values()];
  await executeCalls({
    effects,
    log,
    tools,
    turnId,
    permissions,
    concurrency: config.toolConcurrency,
    signal: run.interruption.signal,
    sink: run.sink,
    suspending: () => isSuspending(run),
    observe: run.observe,
    observer: run.parts.observer,
  });
  if (run.interruption.aborted) return { type: "ending", error: run.interruption.aborted };
  memory.check(run.sink);
  const circle = run.interruption.steered ? undefined : run.guard.afterCalls(calls);
  return circle ? escalate(run, circle) : { type: "assemble" };
}
