import { Messages, newId, type SessionId, type SessionRecord, type SessionRecordBody } from "@shedkit/types";
import type { DocumentStore } from "../contract.js";

/** A user's message as a record. */
export function userRecord(text: string, at = 1): SessionRecord {
  return bodyRecord({ type: "conversation", message: Messages.user(text) }, at);
}

/** Appends under a lease of its own. */
export async function put(
  store: DocumentStore,
  session: SessionId,
  records: readonly SessionRecord[],
): Promise<number> {
  const lease = await store.acquire(session);
  try {
    return await store.append(lease, records);
  } finally {
    await lease.release();
  }
}

/** Any record. */
export function bodyRecord(body: SessionRecordBody, at: number): SessionRecord {
  return { id: newId(), v: 1, at, ...body };
}

/** The text of a record that {@link userRecord} made. */
export function textOf(record: SessionRecord): string | undefined {
  if (record.type !== "conversation" || record.message.type === "assistant") return undefined;
  const part = record.message.content[0];
  return part?.type === "text" ? part.text : undefined;
}
