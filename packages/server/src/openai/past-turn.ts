import type { DocumentStore } from "@shedkit/store";
import { noUsage, type SessionId, type Usage } from "@shedkit/types";

/** A turn that ended, as its log has it. */
export interface PastTurn {
  text: string;
  model: string;
  /** In milliseconds since the epoch. */
  at: number;
  usage: Usage;
  failure?: string | undefined;
  /** The id of its last record. */
  lastRecord: string;
  /** Whether something was said behind it. */
  isLast: boolean;
}

/** Undefined where the log has no such turn, or it has not ended. */
export async function pastTurn(
  store: DocumentStore,
  session: SessionId,
  turnId: string,
): Promise<PastTurn | undefined> {
  let model = "";
  const texts = new Map<string, string>(); // by step
  let turn: PastTurn | undefined;
  for await (const { record } of store.read(session)) {
    if (record.type === "conversation") {
      if (turn) turn.isLast = false;
      const { message } = record;
      if (message.type !== "assistant" || message.turnId !== turnId) continue;
      ({ model } = message);
      const { stepId, output } = message;
      if (output.type === "text") texts.set(stepId, (texts.get(stepId) ?? "") + output.text);
    }
    if ((record.type !== "summary" && record.type !== "failedAction") || record.turnId !== turnId) continue;
    const ended = { model, at: record.at, lastRecord: record.id, isLast: true, text: [...texts.values()].join("\n\n") };
    turn =
      record.type === "summary"
        ? { ...ended, usage: record.usage }
        : { ...ended, usage: noUsage, failure: record.error.message };
  }
  return turn;
}
