import type { Message, SessionRecordBody } from "@shedkit/types";
import type { SessionLog } from "../log/log.js";
import type { QueuedMessage } from "../log/session-state.js";

/** Takes all that waits into the conversation, steering first, and the prompt behind it. */
export async function takeAll(log: SessionLog, prompt: Message | undefined): Promise<void> {
  const bodies = [...waiting(log, "steer"), ...waiting(log, "followUp")].flatMap(({ message }) => taken(message));
  if (prompt) bodies.push({ type: "conversation", message: prompt });
  if (bodies.length > 0) await log.append(...bodies);
}

export function isSteered(log: SessionLog): boolean {
  return log.state.queue.some(({ queue }) => queue === "steer");
}

export function takeSteering(log: SessionLog): Promise<void> {
  return log.append(...waiting(log, "steer").flatMap(({ message }) => taken(message)));
}

/** The follow-ups that wait. */
export function followUps(log: SessionLog): QueuedMessage[] {
  return waiting(log, "followUp");
}

export function take(log: SessionLog, { message }: QueuedMessage): Promise<void> {
  return log.append(...taken(message));
}

function waiting(log: SessionLog, of: QueuedMessage["queue"]): QueuedMessage[] {
  return log.state.queue.filter(({ queue }) => queue === of);
}

/** A queued message becomes part of the conversation. */
function taken(message: Message): SessionRecordBody[] {
  return [
    { type: "dequeued", messageId: message.id },
    { type: "conversation", message },
  ];
}
