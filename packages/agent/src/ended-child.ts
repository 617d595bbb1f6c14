import type { DocumentStore } from "@shedkit/store";
import { addUsage, type ChildStatus, type SessionId, type Usage } from "@shedkit/types";
import { abortedError } from "./abortable.js";
import { textOfRecord } from "./turn/turn.js";

type Ended = Extract<ChildStatus, { type: "done" | "failed" }>;

/** How the newest task of a child ended, as its log has it. Undefined where it broke off, or there is no such log. */
export async function endedChild(
  store: DocumentStore,
  id: string,
  signal: AbortSignal | undefined,
): Promise<Ended | undefined> {
  const said = new Map<string, string>();
  let usage: Usage | undefined;
  let ended: Ended | undefined;
  for await (const { record } of store.read(id as SessionId)) {
    if (signal?.aborted) throw abortedError(signal, "The log was not read");
    if (record.type === "conversation") {
      const { message } = record;
      if (message.type === "assistant") said.set(message.id, textOfRecord(record));
      else if (message.type === "user" && message.role === "user") {
        said.clear();
        usage = undefined;
        ended = undefined;
      }
    } else if (record.type === "retracted") for (const gone of record.messageIds) said.delete(gone);
    else if (record.type === "step") usage = usage ? addUsage(usage, record.usage) : record.usage;
    else if (record.type === "summary") ended = { type: "done", summary: [...said.values()].join(""), usage };
    else if (record.type === "failedAction") ended = { type: "failed", error: record.error, usage };
  }
  return ended;
}
