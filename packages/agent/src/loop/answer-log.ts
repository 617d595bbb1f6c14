import type { Route } from "@shedkit/provider";
import { normalizeTranscript } from "@shedkit/provider/transcript";
import type { SessionRecordBody } from "@shedkit/types";
import type { Generation } from "./generation.js";
import type { LoopParts } from "./state.js";

type Parts = Pick<LoopParts, "log" | "effects" | "spending">;

/** Stores an answer, or what there is of it. */
export async function keep(parts: Parts, turnId: string, route: Route, generation: Generation): Promise<void> {
  const { stepId, outputs } = generation;
  const model = route.model.name;
  const messages = outputs.map(
    (output): SessionRecordBody => ({
      type: "conversation",
      message: { type: "assistant", id: parts.effects.newId(), turnId, stepId, model, output },
    }),
  );
  await parts.log.append(...messages, stepRecord(turnId, route, generation));
  // A thought that led to nothing is no part of the conversation: providers refuse it.
  const { state } = parts.log;
  if (outputs.at(-1)?.type === "thinking") state.messages = normalizeTranscript(state.messages);
  const told = parts.spending.record(generation.usage);
  if (told) await told;
}

/** Takes back what was shown of an answer; what it cost is counted. */
export async function withdraw(
  parts: Parts,
  turnId: string,
  route: Route,
  generation: Generation,
  reason: string,
): Promise<void> {
  const step = stepRecord(turnId, route, generation);
  if (generation.shown) await parts.log.append({ type: "retracted", reason, messageIds: [] }, step);
  else await parts.log.append(step);
  await parts.spending.record(generation.usage);
}

function stepRecord(turnId: string, route: Route, { stepId, usage, end }: Generation): SessionRecordBody {
  const finish = end.type === "finish" ? end.reason : "aborted";
  return { type: "step", turnId, stepId, model: route.model.name, finish, usage };
}
