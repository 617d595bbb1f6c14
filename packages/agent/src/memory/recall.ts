import type { DocumentStore, StoredRecord } from "@shedkit/store";
import {
  AgenticError,
  type ContextSearch,
  type Embedder,
  type KnowledgeHit,
  type Message,
  type SearchMode,
  type SessionId,
  textOfContent,
} from "@shedkit/types";
import { untilAborted } from "../abortable.js";
import { isNote, type SessionState } from "../log/session-state.js";
import { entryText } from "./message.js";
import { scoresByWords, wordsOf } from "./recall-words.js";
import { type IndexedText, type VectorIndex, vectorIndex } from "./vector-index.js";

/** Something in the log that can be found. */
interface Entry extends Pick<KnowledgeHit, "source" | "content"> {
  seq: number;
  recordId: string;
  message?: Message;
}

interface Found {
  entry: Entry;
  score: number;
}

/** How many times `limit` is looked at: retracted messages and other sources fall away. */
const CANDIDATES = 5;
/** Below this, two texts have nothing to do with each other. */
const LEAST_SIMILARITY = 0.3;
/** For how long an embedder is waited for that nobody is in a hurry for, in milliseconds. */
const SEARCH_PATIENCE_MS = 30_000;
/** So many records between two that are wanted are read over. */
const READ_OVER = 10;
/** How much of the log is embedded at once. */
const INDEXED_AT_ONCE = 256;

/** Recall over a session's whole log: by words, and by meaning where there is an embedder. */
export class Recall implements ContextSearch {
  readonly #store: DocumentStore;
  readonly #sessionId: SessionId;
  readonly #state: SessionState;
  readonly #vectors: VectorIndex | undefined;
  #indexing: Promise<void> = Promise.resolve();

  constructor(store: DocumentStore, sessionId: SessionId, state: SessionState, embedder: Embedder | undefined) {
    this.#store = store;
    this.#sessionId = sessionId;
    this.#state = state;
    this.#vectors = embedder && vectorIndex(embedder, sessionId, store.vectors);
  }

  /**
   * By words alone where there is no embedder, or it fails, or takes longer than half a minute: what it has embedded
   * until then is not embedded again. `semantic` looks in messages, `memory` in the memory tiers, `hybrid` in both; `graph` finds nothing.
   */
  async search(
    query: string,
    options: { mode?: SearchMode | undefined; limit?: number | undefined } = {},
  ): Promise<KnowledgeHit[]> {
    const { mode = "hybrid", limit = 10 } = options;
    if (query.trim() === "" || mode === "graph" || limit <= 0) return [];
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), SEARCH_PATIENCE_MS);
    const byMeaning = await this.#byMeaning(query, limit, late.signal);
    clearTimeout(timer);
    const found = await this.#find(query, mode, limit, byMeaning);
    return found.slice(0, limit).map(hitOf);
  }

  /**
   * What was said and stands in the conversation no more, best first. Results of tools are left out: they are data, and
   * must not come back as anybody's words. By words alone where the embedder takes longer than until `late` aborts.
   */
  async beyond(
    query: string,
    conversation: readonly Message[],
    limit: number,
    late: AbortSignal,
  ): Promise<KnowledgeHit[]> {
    const there = new Set(conversation.map((message) => message.id));
    const found = await this.#find(query, "semantic", limit * 2, await this.#byMeaning(query, limit * 2, late));
    return found
      .filter(({ entry: { message } }) => message && message.type !== "toolResult" && !there.has(message.id))
      .slice(0, limit)
      .map(hitOf);
  }

  async #find(
    query: string,
    mode: SearchMode,
    limit: number,
    byMeaning: ReadonlyMap<number, number> | undefined,
  ): Promise<Found[]> {
    const entries = (await this.#entries(query, mode, limit, byMeaning)).filter(
      ({ source }) => mode === "hybrid" || (mode === "semantic") === (source === "message"),
    );
    const byWords = scoresByWords(
      [...new Set(wordsOf(query))],
      entries.map(({ content }) => content),
    );
    const found = entries.flatMap((entry, i): Found[] => {
      const word = byWords[i] ?? 0;
      const meaning = byMeaning?.get(entry.seq) ?? 0;
      if (word === 0 && meaning < LEAST_SIMILARITY) return [];
      return [{ entry, score: byMeaning ? (word + Math.max(0, meaning)) / 2 : word }];
    });
    // The newest first among equals.
    return found.reverse().sort((a, b) => b.score - a.score);
  }

  /** What may be found, in the order of the log: what the store's search and the vectors name, else all of it. */
  async #entries(
    query: string,
    mode: SearchMode,
    limit: number,
    byMeaning: ReadonlyMap<number, number> | undefined,
  ): Promise<Entry[]> {
    const { search } = this.#store;
    // The tiers are few among many messages: what names the best of all would leave them out.
    const { working, observation, reflection } = this.#state;
    const messagesOnly = mode === "semantic" || (mode === "hybrid" && !working && !observation && !reflection);
    if (search === undefined || !messagesOnly) return this.#entriesBehind(0);
    const byWords = await search.call(this.#store, this.#sessionId, query, limit * CANDIDATES);
    return this.#entriesAt(new Set([...byWords.map(({ seq }) => seq), ...(byMeaning?.keys() ?? [])]));
  }

  /** Places that lie near each other are read at once: a store may be far away. */
  async #entriesAt(seqs: ReadonlySet<number>): Promise<Entry[]> {
    const ranges: { after: number; before: number }[] = [];
    for (const seq of [...seqs].sort((a, b) => a - b)) {
      const last = ranges.at(-1);
      if (last && seq - last.before < READ_OVER) last.before = seq + 1;
      else ranges.push({ after: seq - 1, before: seq + 1 });
    }
    const read = ranges.map(async (range) => {
      const entries: Entry[] = [];
      for await (const stored of this.#store.read(this.#sessionId, range)) {
        const entry = seqs.has(stored.seq) ? this.#entryOf(stored) : undefined;
        if (entry) entries.push(entry);
      }
      return entries;
    });
    return (await Promise.all(read)).flat();
  }

  async #entriesBehind(seq: number): Promise<Entry[]> {
    const entries: Entry[] = [];
    for await (const stored of this.#store.read(this.#sessionId, { after: seq })) {
      const entry = this.#entryOf(stored);
      if (entry) entries.push(entry);
    }
    return entries;
  }

  /** How near records are to the query, by their places; undefined where there is no embedder, or it fails. */
  async #byMeaning(query: string, limit: number, signal: AbortSignal): Promise<Map<number, number> | undefined> {
    const vectors = this.#vectors;
    if (!vectors) return undefined;
    try {
      const work = async () => {
        await this.#index(vectors, signal);
        return vectors.nearest(query, limit * CANDIDATES, signal);
      };
      const nearest = await untilAborted(work(), signal, tooLate);
      return new Map(nearest.map(({ seq, score }) => [seq, Number.isFinite(score) ? score : 0]));
    } catch {
      return undefined; // words alone find it then
    }
  }

  /** Embeds what has come since the last time; one after the other, so that nothing is embedded twice. */
  #index(vectors: VectorIndex, signal: AbortSignal): Promise<void> {
    const indexing = this.#indexing.then(async () => {
      const texts: IndexedText[] = await this.#entriesBehind(await vectors.upTo());
      for (let at = 0; at < texts.length; at += INDEXED_AT_ONCE) {
        signal.throwIfAborted();
        await vectors.add(texts.slice(at, at + INDEXED_AT_ONCE), signal);
      }
    });
    this.#indexing = indexing.catch(() => undefined);
    return indexing;
  }

  #entryOf({ seq, record }: StoredRecord): Entry | undefined {
    const found = this.#textOf(record);
    return found && found.content.trim() !== "" ? { ...found, seq, recordId: record.id } : undefined;
  }

  #textOf(record: StoredRecord["record"]): Pick<Entry, "source" | "content" | "message"> | undefined {
    switch (record.type) {
      case "conversation": {
        const { message } = record;
        if (this.#state.retracted.has(message.id) || isNote(message)) return undefined;
        if (message.type !== "assistant")
          return { source: "message", content: textOfContent(message.content), message };
        const { output } = message;
        return output.type === "text" ? { source: "message", content: output.text, message } : undefined;
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

function hitOf({ entry: { source, content, recordId }, score }: Found): KnowledgeHit {
  return { source, score, content, recordId };
}

function tooLate(): AgenticError {
  return new AgenticError("cancelled", "The embedder was not waited for any longer.", { reason: "timeout" });
}
