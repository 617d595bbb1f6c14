import type { DocumentStore, MemoryStore } from "@shedkit/store";
import { AgenticError, newSessionId, type SessionId, type SessionRecord } from "@shedkit/types";
import { buildParts } from "../build.js";
import type { SessionInternals } from "../session.js";
import type { Settings } from "../settings.js";
import type { SessionLog } from "./log.js";

/** Builds a session on a copy of another's log, up to the record `at`. One that cannot be built leaves no copy behind. */
export async function forkParts<D extends DocumentStore, M extends MemoryStore>(
  from: SessionInternals<D, M>,
  settings: Settings<D, M>,
  at: string | undefined,
): Promise<{ parts: SessionInternals<D, M>; settings: Settings<D, M> }> {
  const sessionId = await forkLog(from, at);
  const forked: Settings<D, M> = { ...settings, models: from.models, sessionId, mustExist: true };
  try {
    return { parts: await buildParts(forked), settings: forked };
  } catch (error) {
    await from.docStore.delete(sessionId).catch(() => undefined); // what kept it from being built is what counts
    throw error;
  }
}

/** Copies a log, up to the record `at`, into a new session; returns its id. Appended in one: a fork is whole or not. */
async function forkLog(
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
