import type { DocumentStore } from "@shedkit/store";
import {
  type ContextSearch,
  type KnowledgeHit,
  type SearchMode,
  type SessionId,
  type SessionRecord,
  textOfContent,
} from "@shedkit/types";

/** Recall over a session's whole log, by words. */
export class LogSearch implements ContextSearch {
  readonly #store: DocumentStore;
  readonly #sessionId: SessionId;

  constructor(store: DocumentStore, sessionId: SessionId) {
    this.#store = store;
    this.#sessionId = sessionId;
  }

  /** `semantic` looks in messages, `memory` in the memory tiers, `hybrid` in both; `graph` finds nothing. */
  async search(
    query: string,
    options: { mode?: SearchMode | undefined; limit?: number | undefined } = {},
  ): Promise<KnowledgeHit[]> {
    const words = [...new Set(wordsOf(query))];
    const mode = options.mode ?? "hybrid";
    if (words.length === 0 || mode === "graph") return [];
    const hits: KnowledgeHit[] = [];
    for await (const { record } of this.#store.read(this.#sessionId)) {
      const found = searchable(record);
      if (!found || found.content === "") continue;
      if (mode !== "hybrid" && (mode === "semantic") !== (found.source === "message")) continue;
      const there = new Set(wordsOf(found.content));
      const score = words.filter((word) => there.has(word)).length / words.length;
      if (score > 0) hits.push({ ...found, score, recordId: record.id });
    }
    // The newest first among equals.
    return hits
      .reverse()
      .sort((a, b) => b.score - a.score)
      .slice(0, options.limit ?? 10);
  }
}

function searchable(record: SessionRecord): Pick<KnowledgeHit, "source" | "content"> | undefined {
  switch (record.type) {
    case "conversation": {
      const { message } = record;
      if (message.type !== "assistant") return { source: "message", content: textOfContent(message.content) };
      const { output } = message;
      return output.type === "text" ? { source: "message", content: output.text } : undefined;
    }
    case "workingMemory":
      return { source: "workingMemory", content: record.facts.map(plain).join("\n") };
    case "observation":
      return { source: "observation", content: record.observations.map(plain).join("\n") };
    case "reflection":
      return { source: "reflection", content: record.reflections.map(plain).join("\n") };
    default:
      return undefined;
  }
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
