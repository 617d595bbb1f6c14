import { Messages } from "@shedkit/types";
import { closeOpenCalls } from "./execution.js";
import type { Escalation } from "./loop-guard.js";
import type { Recovery } from "./recovery.js";
import type { LoopRun } from "./run.js";
import type { AgentLoopState } from "./state.js";

/** The model goes round in circles: it is told, in the results of calls that do not run or in a message. */
export async function escalate(run: LoopRun, circle: Escalation): Promise<AgentLoopState> {
  const { log, effects } = run.parts;
  if (circle.type === "terminate") return { type: "ending", error: circle.error };
  if (log.state.openCalls.size > 0) {
    await closeOpenCalls(log, effects, "skipped", () => `The call was not run. ${circle.text}`);
    run.inner++;
  } else await log.append({ type: "conversation", message: Messages.agent(circle.text) });
  const next = circle.type === "change" ? run.models.next("The model went round in circles.") : undefined;
  if (next) await switchModel(run, next);
  return { type: "assemble" };
}

/** Notes that another model is asked from now on. */
export async function switchModel(
  run: LoopRun,
  { from, to, reason }: Extract<Recovery, { type: "switch" }>,
): Promise<void> {
  await run.parts.log.append({ type: "modelSwitched", from, to, reason });
}
