import type { SessionId } from "@shedkit/types";
import type { KeyValueStore, MemoryStore, MemoryTiers } from "./contract.js";
import type { MemoryStorage } from "./memory-storage.js";

const TIERS = ["working", "observation", "reflection"] as const satisfies readonly (keyof MemoryTiers)[];

/** The memory tiers of sessions in any {@link KeyValueStore}, under `memory:<tier>:<session>`. */
export class KvMemoryStore<K extends KeyValueStore = MemoryStorage> implements MemoryStore {
  readonly storage: K;

  constructor(storage: K) {
    this.storage = storage;
  }

  async read(session: SessionId): Promise<MemoryTiers> {
    const values = await Promise.all(TIERS.map((tier) => this.storage.get(keyOf(session, tier))));
    const tiers: { [tier: string]: unknown } = {};
    TIERS.forEach((tier, i) => {
      if (values[i] !== undefined) tiers[tier] = values[i];
    });
    return tiers as MemoryTiers;
  }

  /** `undefined` removes the tier. */
  async write<T extends keyof MemoryTiers>(session: SessionId, tier: T, value: MemoryTiers[T]): Promise<void> {
    if (value === undefined) await this.storage.delete(keyOf(session, tier));
    else await this.storage.set(keyOf(session, tier), value);
  }

  async clear(session: SessionId): Promise<void> {
    await Promise.all(TIERS.map((tier) => this.storage.delete(keyOf(session, tier))));
  }
}

function keyOf(session: SessionId, tier: keyof MemoryTiers): string {
  return `memory:${tier}:${session}`;
}
