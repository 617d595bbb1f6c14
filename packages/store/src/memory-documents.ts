import { AgenticError, type SessionId, type SessionRecord } from "@shedkit/types";
import type { DocumentStore, SessionInfo, SessionLease, StoredRecord } from "./contract.js";
import { LeaseQueue } from "./lease-queue.js";
import { hasText, scoreText, textOfRecord, titleOf, wordsOf } from "./record-text.js";

interface Log {
  /** The sequence number of a record is its place, from 1. */
  readonly records: SessionRecord[];
  info: SessionInfo;
}

/**
 * Session logs in memory: gone with the process. Records are kept as they are given and handed out again, not copied;
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
    return this.#leases.acquire(session, options.waitMs ?? 0, options.signal);
  }

  async append(lease: SessionLease, records: readonly SessionRecord[]): Promise<number> {
    this.#check("append");
    this.#leases.check(lease);
    const log = this.#logs.get(lease.session);
    const first = records[0];
    if (first === undefined) return log?.records.length ?? 0;
    const kept = log ?? { records: [], info: newInfo(lease.session, first) };
    if (log === undefined) this.#logs.set(lease.session, kept);
    for (const record of records) {
      kept.records.push(record);
      if (record.type === "forkedFrom") {
        kept.info.parent = { session: record.session as SessionId, record: record.record };
      }
      kept.info.title ??= titleOf(record);
      kept.info.updatedAt = record.at;
    }
    kept.info.records = kept.records.length;
    return kept.records.length;
  }

  async *read(
    session: SessionId,
    range: { after?: number | undefined; before?: number | undefined; last?: number | undefined } = {},
  ): AsyncGenerator<StoredRecord, void, void> {
    this.#check("read");
    const records = this.#logs.get(session)?.records;
    if (records === undefined) return;
    // The end is taken now: a reader sees the log as it was when it began.
    const end = Math.min(records.length, (range.before ?? Number.POSITIVE_INFINITY) - 1);
    const start = Math.max(0, range.after ?? 0, range.last === undefined ? 0 : end - range.last);
    for (let i = start; i < end; i++) {
      const record = records[i];
      if (record !== undefined) yield { seq: i + 1, record };
    }
  }

  /** Records that hold words of the query, best first: the share of its words that a record has. Scans the log. */
  async search(session: SessionId, query: string, limit: number): Promise<{ seq: number; score: number }[]> {
    this.#check("search");
    const words = wordsOf(query);
    const hits: { seq: number; score: number }[] = [];
    for (const [i, record] of this.#logs.get(session)?.records.entries() ?? []) {
      const score = scoreText(words, textOfRecord(record));
      if (score > 0) hits.push({ seq: i + 1, score });
    }
    return hits.sort((a, b) => b.score - a.score || b.seq - a.seq).slice(0, limit);
  }

  async sessions(
    query: { text?: string | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
  ): Promise<{ items: SessionInfo[]; cursor?: string | undefined }> {
    this.#check("sessions");
    const limit = query.limit ?? 50;
    const after = query.cursor === undefined ? undefined : parseCursor(query.cursor);
    const found: SessionInfo[] = [];
    for (const info of [...this.#logs.values()].map((log) => log.info).sort(newestFirst)) {
      if (after !== undefined && newestFirst(info, after) <= 0) continue;
      if (query.text !== undefined && !this.#mentions(info.id, query.text)) continue;
      found.push(info);
      if (found.length > limit) break;
    }
    const items = found.slice(0, limit).map((info) => ({ ...info }));
    const last = items.at(-1);
    return found.length > limit && last !== undefined ? { items, cursor: `${last.updatedAt}:${last.id}` } : { items };
  }

  async delete(session: SessionId): Promise<boolean> {
    this.#check("delete");
    this.#leases.revoke(session);
    return this.#logs.delete(session);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#leases.close(() => closedError("acquire"));
    this.#logs.clear();
  }

  #mentions(session: SessionId, text: string): boolean {
    return this.#logs.get(session)?.records.some((record) => hasText(record, text)) ?? false;
  }

  #check(operation: string): void {
    if (this.#closed) throw closedError(operation);
  }
}

function newInfo(id: SessionId, first: SessionRecord): SessionInfo {
  return { id, createdAt: first.at, updatedAt: first.at, records: 0 };
}

function newestFirst(a: { updatedAt: number; id: string }, b: { updatedAt: number; id: string }): number {
  return b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}

function parseCursor(cursor: string): { updatedAt: number; id: string } {
  const colon = cursor.indexOf(":");
  const updatedAt = Number(cursor.slice(0, colon));
  if (colon < 1 || !Number.isFinite(updatedAt)) {
    throw new AgenticError("store", `"${cursor}" is not a cursor. Take the one that sessions() returned.`, {
      store: "memory",
      operation: "sessions",
    });
  }
  return { updatedAt, id: cursor.slice(colon + 1) };
}

function closedError(operation: string): AgenticError {
  return new AgenticError("store", "The store is closed. Make a new MemoryDocumentStore.", {
    store: "memory",
    operation,
  });
}
