import { type ModelOutput, type SessionRecord, textOfContent } from "@shedkit/types";
import type { OpenCall } from "../log/session-state.js";
import type { Escalation, LoopGuard } from "./loop-guard.js";
import { BARE_NUMBER, EMPTY } from "./texts.js";

/**
 * Shows a guard what it would have seen of a turn that another process began, by the turn's records. Gives what is still
 * to be done about the newest of them.
 */
export async function replay(guard: LoopGuard, records: readonly SessionRecord[]): Promise<Escalation | undefined> {
  let outputs: ModelOutput[] = [];
  let calls = new Map<string, Pick<OpenCall, "call" | "result">>();
  let due: Escalation | undefined;
  for (const record of records) {
    if (record.type === "dequeued" || record.type === "modelSwitched") {
      if (record.type === "dequeued") guard.reset();
      due = undefined;
    } else if (record.type === "step") {
      due = await guard.beforeCalls(outputs);
      calls = new Map();
      // Those that are not run come to nothing.
      if (!due) for (const output of outputs) if (output.type === "toolCall") calls.set(output.id, { call: output });
      outputs = [];
    } else if (record.type === "conversation") {
      const { message } = record;
      if (message.type === "assistant") {
        outputs.push(message.output);
        continue;
      }
      if (due?.type !== "terminate") due = undefined; // the turn was about to end
      if (message.type === "toolResult") {
        const open = calls.get(message.toolCallId);
        if (open) open.result = message;
        if (open && [...calls.values()].every(({ result }) => result)) due = guard.afterCalls(calls.values());
      } else if (message.role === "agent") {
        const text = textOfContent(message.content);
        if (text === EMPTY.text || text === BARE_NUMBER.text) guard.doubted(text === BARE_NUMBER.text);
      }
    }
  }
  return due;
}
