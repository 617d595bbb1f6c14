import type { DocumentStore } from "@shedkit/store";
import {
  type ContextSearch,
  type Embedder,
  type KnowledgeHit,
  type SearchMode,
  type SessionId,
  type SessionRecord,
  textOfContent,
} from "@shedkit/types";
import { entryText } from "./memory-message.js";
import type { SessionState } from "./session-state.js";
import { VectorIndex } from "./vector-index.js";

/** Something in the log that can be found. */
interface Entry extends Pick<KnowledgeHit, "source" | "content"> {
  recordId: string;
}

/** How many times `limit` a store's own search is asked for: retracted messages and other sources fall away. */
const CANDIDATES = 5;
/** Below this, two texts have nothing to do with each other. */
const LEAST_SIMILARITY = 0.3;
/** A word of the query also finds longer ones that begin with it, from this length on. */
const PREFIX_LENGTH = 4;

/** Recall over a session's whole log: by words, and by meaning where there is an embedder. */
export class Recall implements ContextSearch {
  readonly #store: DocumentStore;
  readonly #sessionId: SessionId;
  readonly #state: SessionState;
  readonly #vectors: VectorIndex | undefined;

  constructor(store: DocumentStore, sessionId: SessionId, state: SessionState, embedder: Embedder | undefined) {
    this.#store = store;
    this.#sessionId = sessionId;
    this.#state = state;
    this.#vectors = embedder && new VectorIndex(embedder);
  }

  /** `semantic` looks in messages, `memory` in the memory tiers, `hybrid` in both; `graph` finds nothing. */
  async search(
    query: string,
    options: { mode?: SearchMode | undefined; limit?: number | undefined } = {},
  ): Promise<KnowledgeHit[]> {
    const { mode = "hybrid", limit = 10 } = options;
    const words = [...new Set(wordsOf(query))];
    if (query.trim() === "" || mode === "graph" || limit <= 0) return [];
    const entries = await this.#entries(query, mode, limit);
    const byWords = scoresByWords(words, entries);
    const byMeaning = await this.#vectors?.similarities(query, entries);
    const hits = entries.flatMap((entry, i): KnowledgeHit[] => {
      const word = byWords[i] ?? 0;
      const meaning = byMeaning?.[i] ?? 0;
      if (word === 0 && meaning < LEAST_SIMILARITY) return [];
      return [{ ...entry, score: byMeaning ? (word + Math.max(0, meaning)) / 2 : word }];
    });
    // The newest first among equals.
    return hits
      .reverse()
      .sort((a, b) => b.score - a.score)
      .slice(0, limit);
  }

  /** What may be found: all of it, or what the store's own search names where words alone decide. */
  async #entries(query: string, mode: SearchMode, limit: number): Promise<Entry[]> {
    if (this.#store.search && !this.#vectors && mode === "semantic") {
      const found = await this.#store.search(this.#sessionId, query, limit * CANDIDATES);
      const entries: Entry[] = [];
      for (const { seq } of found.toSorted((a, b) => a.seq - b.seq)) {
        for await (const { record } of this.#store.read(this.#sessionId, { after: seq - 1, before: seq + 1 })) {
          const entry = this.#entryOf(record);
          if (entry?.source === "message") entries.push(entry);
        }
      }
      return entries;
    }
    const entries: Entry[] = [];
    for await (const { record } of this.#store.read(this.#sessionId)) {
      const entry = this.#entryOf(record);
      if (entry && (mode === "hybrid" || (mode === "semantic") === (entry.source === "message"))) entries.push(entry);
    }
    return entries;
  }

  #entryOf(record: SessionRecord): Entry | undefined {
    const found = this.#textOf(record);
    return found && found.content.trim() !== "" ? { ...found, recordId: record.id } : undefined;
  }

  #textOf(record: SessionRecord): Pick<Entry, "source" | "content"> | undefined {
    switch (record.type) {
      case "conversation": {
        const { message } = record;
        if (this.#state.retracted.has(message.id)) return undefined;
        if (message.type !== "assistant") return { source: "message", content: textOfContent(message.content) };
        return message.output.type === "text" ? { source: "message", content: message.output.text } : undefined;
      }
      case "workingMemory":
        // Facts that were replaced do not hold any more.
        if (record.id !== this.#state.working?.id) return undefined;
        return { source: "workingMemory", content: record.facts.map(entryText).join("\n") };
      case "observation":
        return { source: "observation", content: record.observations.map(entryText).join("\n") };
      case "reflection":
        return { source: "reflection", content: record.reflections.map(entryText).join("\n") };
      default:
        return undefined;
    }
  }
}

/** From 0 to 1: the share of the query's words that a text has, rare words counting more. */
function scoresByWords(words: readonly string[], entries: readonly Entry[]): number[] {
  const has = entries.map(({ content }) => {
    const there = new Set(wordsOf(content));
    return words.map((word) => there.has(word) || (word.length >= PREFIX_LENGTH && beginsOne(there, word)));
  });
  const weights = words.map((_, w) => {
    const count = has.filter((found) => found[w]).length;
    return Math.log(1 + (entries.length + 1) / (count + 1));
  });
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return has.map((found) => found.reduce((sum, there, w) => sum + (there ? (weights[w] ?? 0) : 0), 0) / (all || 1));
}

function beginsOne(words: ReadonlySet<string>, start: string): boolean {
  for (const word of words) if (word.startsWith(start)) return true;
  return false;
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
