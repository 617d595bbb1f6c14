import type { DocumentStore } from "@shedkit/store";
import { addUsage, noUsage, type SessionId, type Usage } from "@shedkit/types";

/** What one turn took. */
export interface TurnCost {
  turnId: string;
  /** When its last model call ended, in milliseconds since the epoch. */
  at: number;
  /** The model of its last call. */
  model: string;
  /** Model calls. */
  steps: number;
  usage: Usage;
}

/** What each turn of a session took, and all together with what the memory model took. */
export async function turnCosts(
  store: DocumentStore,
  session: SessionId,
): Promise<{ turns: TurnCost[]; total: Usage }> {
  const turns = new Map<string, TurnCost>();
  let total: Usage = noUsage;
  for await (const { record } of store.read(session)) {
    if (record.type === "step") {
      const { turnId, model, usage, at } = record;
      const turn = turns.get(turnId);
      turns.set(turnId, {
        ...{ turnId, at, model },
        steps: (turn?.steps ?? 0) + 1,
        usage: addUsage(turn?.usage ?? noUsage, usage),
      });
      total = addUsage(total, usage);
    } else if (record.type === "compaction" || record.type === "observation" || record.type === "reflection") {
      total = addUsage(total, record.usage ?? noUsage);
    }
  }
  return { turns: [...turns.values()], total };
}
