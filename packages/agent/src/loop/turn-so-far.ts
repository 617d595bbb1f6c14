import { addUsage, noUsage, type SessionRecord, textOfContent, type Usage } from "@shedkit/types";
import { reviveError, type TurnOutcome } from "../turn/turn.js";
import { SUM_UP } from "./texts.js";

/** Where a turn stands that another process began. */
export interface TurnSoFar {
  /** Present where it is over. */
  ended?: TurnOutcome | undefined;
  /** Messages of the queue that it has taken after the first. */
  taken: number;
  /** Steps with calls since the newest of them. */
  inner: number;
  sumUpAsked: boolean;
  /** Whether the newest step is an answer without calls. */
  answered: boolean;
  messageCount: number;
  usage: Usage;
}

/** Reads where a turn stands from its records, as the log holds them. */
export function turnSoFar(records: readonly SessionRecord[]): TurnSoFar {
  const so: TurnSoFar = {
    taken: 0,
    inner: 0,
    sumUpAsked: false,
    answered: false,
    messageCount: 0,
    usage: noUsage,
  };
  /** What the step that is being read has said: its messages stand before it. */
  let said: "nothing" | "text" | "calls" = "nothing";
  for (const record of records) {
    if (record.type === "conversation") {
      const { message } = record;
      so.messageCount++;
      so.answered = false;
      if (message.type === "assistant") {
        if (message.output.type === "toolCall") said = "calls";
        else if (said === "nothing") said = "text";
      } else if (message.type === "user" && message.role === "agent" && textOfContent(message.content) === SUM_UP) {
        so.sumUpAsked = true;
      }
    } else if (record.type === "step") {
      so.usage = addUsage(so.usage, record.usage);
      if (said === "calls") so.inner++;
      so.answered = said === "text" && (record.finish === "stop" || record.finish === "length");
      said = "nothing";
    } else if (record.type === "dequeued" && so.answered) {
      so.taken++;
      so.inner = 0;
      so.sumUpAsked = false;
    } else if (record.type === "summary") so.ended = { type: "completed" };
    else if (record.type === "failedAction") so.ended = { type: "failed", error: reviveError(record.error) };
  }
  return so;
}
