import type { SessionId, SessionRecord } from "@shedkit/types";
import type { DocumentStore, SessionInfo, SessionLease, StoredRecord } from "./contract.js";
import { checkKey } from "./keys.js";
import { LeaseQueue } from "./lease-queue.js";
import { extendInfo, pageOf } from "./listing.js";
import { MemoryLog } from "./memory-log.js";
import { rangeOf } from "./range.js";
import { hasText, scoreText, textOfRecord, wordsOf } from "./record-text.js";
import { closedError } from "./store-error.js";

interface Log {
  /** The sequence number of a record is its place, from 1. */
  readonly records: MemoryLog;
  readonly info: SessionInfo;
}

/**
 * Session logs in memory: gone with the process. Messages are kept as they are given and handed out again, not copied;
 * who appends a record must not change it afterwards.
 */
export class MemoryDocumentStore implements DocumentStore {
  readonly kind = "memory";
  readonly #logs = new Map<SessionId, Log>();
  readonly #leases = new LeaseQueue();
  #closed = false;

  async acquire(
    session: SessionId,
    options: { waitMs?: number | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<SessionLease> {
    this.#check("acquire");
    checkKey(session, "memory", "acquire");
    return this.#leases.acquire(session, options.waitMs ?? 0, options.signal);
  }

  async append(lease: SessionLease, records: readonly SessionRecord[]): Promise<number> {
    this.#check("append");
    this.#leases.check(lease);
    const log = this.#logs.get(lease.session);
    if (records.length === 0) return log?.records.length ?? 0;
    const { records: kept, info } = log ?? this.#begin(lease.session, records[0]?.at ?? 0);
    for (const record of records) kept.push(record);
    extendInfo(info, records);
    return info.records;
  }

  async *read(
    session: SessionId,
    range: { after?: number | undefined; before?: number | undefined; last?: number | undefined } = {},
  ): AsyncGenerator<StoredRecord, void, void> {
    this.#check("read");
    const records = this.#logs.get(session)?.records;
    if (records === undefined) return;
    // The end is taken now: a reader sees the log as it was when it began.
    const { after, end } = rangeOf(records.length, range, "memory");
    let seq = after;
    for (const record of records.between(after, end)) yield { seq: ++seq, record };
  }

  /** Records that hold words of the query, best first: the share of its words that a record has. Scans the log. */
  async search(session: SessionId, query: string, limit: number): Promise<{ seq: number; score: number }[]> {
    this.#check("search");
    const words = wordsOf(query);
    const hits: { seq: number; score: number }[] = [];
    let seq = 0;
    for (const record of this.#logs.get(session)?.records ?? []) {
      seq++;
      const score = scoreText(words, textOfRecord(record));
      if (score > 0) hits.push({ seq, score });
    }
    return hits.sort((a, b) => b.score - a.score || b.seq - a.seq).slice(0, limit);
  }

  async sessions(
    query: { text?: string | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
  ): Promise<{ items: SessionInfo[]; cursor?: string | undefined }> {
    this.#check("sessions");
    const infos = [...this.#logs.values()].map((log) => log.info);
    const mentions = (session: SessionId, text: string): boolean => {
      for (const record of this.#logs.get(session)?.records ?? []) if (hasText(record, text)) return true;
      return false;
    };
    const page = await pageOf(infos, query, mentions, "memory");
    return { ...page, items: page.items.map((info) => ({ ...info })) };
  }

  async delete(session: SessionId): Promise<boolean> {
    this.#check("delete");
    this.#leases.revoke(session);
    return this.#logs.delete(session);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#leases.close(() => closed("acquire"));
    this.#logs.clear();
  }

  #begin(session: SessionId, at: number): Log {
    const log = { records: new MemoryLog(), info: { id: session, createdAt: at, updatedAt: at, records: 0 } };
    this.#logs.set(session, log);
    return log;
  }

  #check(operation: string): void {
    if (this.#closed) throw closed(operation);
  }
}

function closed(operation: string) {
  return closedError("memory", operation, "Make a new MemoryDocumentStore.");
}
