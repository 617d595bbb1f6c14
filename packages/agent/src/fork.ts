import type { DocumentStore } from "@shedkit/store";
import { AgenticError, newSessionId, type SessionId, type SessionRecord } from "@shedkit/types";
import type { SessionLog } from "./log.js";

/** Copies a log, up to the record `at`, into a new session; returns its id. Appended in one: a fork is whole or not. */
export async function forkLog(
  from: { docStore: DocumentStore; sessionId: SessionId; log: SessionLog },
  at: string | undefined,
): Promise<SessionId> {
  const records: SessionRecord[] = [];
  let found = at === undefined;
  for await (const { record } of from.docStore.read(from.sessionId)) {
    records.push(record);
    if (record.id === at) {
      found = true;
      break;
    }
  }
  if (!found) {
    throw new AgenticError(
      "session",
      `The session ${from.sessionId} has no record "${at}". Take an id from turn.records, or leave it out to fork here.`,
      { reason: "unknown record" },
    );
  }
  const id = newSessionId();
  const lease = await from.docStore.acquire(id);
  try {
    const origin = from.log.stamp({ type: "forkedFrom", session: from.sessionId, record: records.at(-1)?.id ?? "" });
    await from.docStore.append(lease, [origin, ...records.filter((record) => record.type !== "forkedFrom")]);
  } finally {
    await lease.release();
  }
  return id;
}
