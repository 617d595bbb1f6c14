import type { JsonValue, MemoryAccess, SessionId } from "@shedkit/types";
import { Resources } from "./resources.js";
import type { SessionParts } from "./session.js";

/**
 * The parts of a session that has no agent: what it remembers lasts as long as it does, and there is no conversation to
 * search in.
 */
export function partsAlone(sessionId: SessionId): SessionParts {
  return { sessionId, resources: new Resources(), context: { search: async () => [] }, memory: memoryAlone() };
}

function memoryAlone(): MemoryAccess {
  let facts: readonly JsonValue[] = [];
  let version = 0;
  return {
    facts: async () => facts,
    edit: async (change) => {
      facts = [...change(facts)];
      return ++version;
    },
  };
}
