import { KvMemoryStore, MemoryDocumentStore, MemoryStorage } from "@shedkit/store";
import { ScriptedProvider } from "@shedkit/testing";
import type { SessionId, SessionRecord, SessionRecordBody } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import { sessionOf, transcript } from "./helpers.js";

type Memory = Extract<SessionRecord, { type: "observation" | "reflection" }>;

const s = "s" as SessionId;
/** Ids sort by the clock of their time. */
const early = "01k00000000000000000000001";
const late = "01k90000000000000000000001";

function record(id: string, body: SessionRecordBody): SessionRecord {
  return { id, v: 1, at: 1, ...body };
}

const observation = (id: string) =>
  record(id, { type: "observation", upTo: "m1", observations: [{ content: "They like trees." }], tokenCount: 5 });
const reflection = (id: string, upTo: string) =>
  record(id, { type: "reflection", upTo, reflections: [{ summary: "Trees matter." }] });

/** What a session over that log and that memory is told of its memory. */
async function told(log: readonly SessionRecord[], memory: readonly Memory[] = []): Promise<string[]> {
  const store = new MemoryDocumentStore();
  if (log.length > 0) {
    const lease = await store.acquire(s);
    await store.append(lease, log);
    await lease.release();
  }
  const memoryStore = new KvMemoryStore(new MemoryStorage());
  for (const tier of memory) await memoryStore.write(s, tier.type, tier as never);
  const provider = new ScriptedProvider(["Yes."]);
  const session = await sessionOf(provider).withDocStore(store).withMemoryStore(memoryStore).withSessionId(s).build();
  await session.ask("Hi");
  return transcript(provider.requests[0]?.messages ?? []).filter((line) => line.startsWith("system:"));
}

const BOTH = ["system: Reflections:\n- Trees matter.\n\nObservations:\n- They like trees."];
const REFLECTED = ["system: Reflections:\n- Trees matter."];

describe("an observation that a reflection has taken in", () => {
  it("is told no more, and one that came after it is, whatever the clock said", async () => {
    for (const [first, second] of [
      [early, late],
      [late, early], // the clock went backwards between the two
    ] as const) {
      expect(await told([observation(first), reflection(second, first)])).toEqual(REFLECTED);
      expect(await told([reflection(first, ""), observation(second)])).toEqual(BOTH);
    }
  });

  it("is so too where the memory was brought along without its log", async () => {
    for (const [first, second] of [
      [early, late],
      [late, early],
    ] as const) {
      const taken = [observation(first), reflection(second, first)] as Memory[];
      expect(await told([], taken)).toEqual(REFLECTED);
      const after = [reflection(first, "another"), observation(second)] as Memory[];
      expect(await told([], after)).toEqual(BOTH);
    }
  });
});
