import type { SessionId } from "@shedkit/types";
import type { MemoryStore, MemoryTiers } from "../contract.js";
import type { StoreCase } from "./case.js";
import { same } from "./check.js";

const session = "s" as SessionId;
const working: MemoryTiers["working"] = { id: "r1", v: 1, at: 1, type: "workingMemory", version: 1, facts: ["a"] };
const reflection: MemoryTiers["reflection"] = {
  id: "r2",
  v: 1,
  at: 2,
  type: "reflection",
  upTo: "r1",
  reflections: [{ text: "b" }],
};

/** What every {@link MemoryStore} must do. Each case opens a new, empty store. */
export const memoryStoreCases: readonly StoreCase<MemoryStore>[] = [
  {
    name: "a session without memory has no tiers",
    async run(store) {
      same(await store.read(session), {}, "read");
      await store.clear(session);
    },
  },
  {
    name: "tiers are kept apart, by session and by name",
    async run(store) {
      await store.write(session, "working", working);
      await store.write(session, "reflection", reflection);
      await store.write("other" as SessionId, "working", { ...working, facts: [] });
      same(await store.read(session), { working, reflection }, "read");
      await store.write(session, "working", { ...working, version: 2 });
      same((await store.read(session)).working?.version, 2, "version after a second write");
      await store.write(session, "reflection", undefined);
      same((await store.read(session)).reflection, undefined, "a tier written as undefined");
    },
  },
  {
    name: "clear removes one session's memory",
    async run(store) {
      const other = "other" as SessionId;
      await store.write(session, "working", working);
      await store.write(other, "working", working);
      await store.clear(session);
      same(await store.read(session), {}, "cleared");
      same(await store.read(other), { working }, "the other session");
    },
  },
];
