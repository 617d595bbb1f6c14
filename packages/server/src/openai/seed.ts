import type { DocumentStore } from "@shedkit/store";
import { type Message, newId, type SessionId } from "@shedkit/types";

/** Begins the log of a session with what was said elsewhere. */
export async function seed(store: DocumentStore, session: SessionId, messages: readonly Message[]): Promise<void> {
  if (messages.length === 0) return;
  const lease = await store.acquire(session);
  try {
    const records = messages.map(
      (message) => ({ id: newId(), v: 1, at: Date.now(), type: "conversation", message }) as const,
    );
    await store.append(lease, records);
  } finally {
    await lease.release();
  }
}
