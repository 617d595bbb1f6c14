import type { MemoryStore, MemoryTiers } from "@shedkit/store";
import type { SessionId } from "@shedkit/types";
import type { SessionLog } from "../log/log.js";

const TIERS = ["working", "observation", "reflection"] as const;

/**
 * Makes the log and the memory store say the same: a process may have ended between the two, and either may have been
 * brought along without the other. The log is right where both know a tier; one that only the store knows is taken over.
 */
export async function syncMemory(
  log: SessionLog,
  store: MemoryStore,
  sessionId: SessionId,
  stored: MemoryTiers,
): Promise<void> {
  const { state } = log;
  const unknown = TIERS.flatMap((tier) => (state[tier] === undefined ? (stored[tier] ?? []) : []));
  // In the order in which they were made, whatever the clock said: which one is newer counts.
  if (stored.reflection && stored.reflection.upTo !== stored.observation?.id) {
    unknown.sort((a, b) => Number(a.type === "observation") - Number(b.type === "observation"));
  }
  for (const { id: _, v: __, at: ___, ...body } of unknown) await log.append(body);
  for (const tier of TIERS) {
    const record = state[tier];
    if (record !== undefined && record.id !== stored[tier]?.id) await store.write(sessionId, tier, record);
  }
}
