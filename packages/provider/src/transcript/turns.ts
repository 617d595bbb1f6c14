import type { AssistantMessage, Message, ToolResultMessage, UserMessage } from "@shedkit/types";

/** Neighbours of one role, as wires that alternate want them. */
export type TranscriptTurn =
  | { role: "user"; messages: (UserMessage | ToolResultMessage)[] }
  | { role: "assistant"; messages: AssistantMessage[] };

/**
 * A normalised transcript as turns that alternate, the user's first: neighbours of one role are one turn, all results
 * of a batch with them. A transcript that begins with the assistant (it was cut) gets a user's turn without messages.
 */
export function alternateTurns(messages: readonly Message[]): TranscriptTurn[] {
  const turns: TranscriptTurn[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (message.type === "assistant") {
      if (last === undefined) turns.push({ role: "user", messages: [] });
      if (last?.role === "assistant") last.messages.push(message);
      else turns.push({ role: "assistant", messages: [message] });
    } else if (last?.role === "user") {
      last.messages.push(message);
    } else {
      turns.push({ role: "user", messages: [message] });
    }
  }
  return turns;
}
