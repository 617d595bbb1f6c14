import { AgenticError, newId, type SessionId, type SessionRecord } from "@shedkit/types";
import type {
  BlobStore,
  DocumentStore,
  QueryStore,
  SessionInfo,
  SessionLease,
  StoredRecord,
  VectorStore,
} from "./contract.js";
import { checkKey } from "./keys.js";
import { LeaseQueue } from "./lease-queue.js";
import { pause } from "./pause.js";
import { titleOf } from "./record-text.js";
import { dialectOf } from "./sql/dialect.js";
import { takeSession } from "./sql/leases.js";
import { listSessions } from "./sql/listing.js";
import { migrate, numbered, type Statement } from "./sql/migrate.js";
import { LeaseOwner } from "./sql/owner.js";
import { listsOf, recordOf, rowsOf } from "./sql/rows.js";
import { phrasesOf, plainText } from "./sql/terms.js";
import { SqlVectors } from "./sql/vectors.js";
import { busyError, closedError, storeError } from "./store-error.js";

/** A lease as its holder sees it. This object is the session's only writer, so it knows how long the log is. */
interface Held {
  readonly fence: number;
  records: number;
  /** Ends when the appends so far have. */
  tail: Promise<unknown>;
}

const LEASE_MS = 30_000;
/** How often an append is tried that a passing failure kept out: a lost connection, a server that is busy. */
const APPEND_ATTEMPTS = 3;
const FIRST_RETRY_MS = 100;
/** How much of a log is read at once, in characters, and how many records at most. */
const PAGE_LENGTH = 4_000_000;
const PAGE_RECORDS = 2000;

/**
 * Session logs in any SQL database. An append is one transaction whose cost does not grow with the log. Leases hold
 * over all processes that use the database: the row of a session names its holder and the fence of the last lease, and
 * an append under an older fence changes nothing. The tables (`shedkit_*`) are made when first needed.
 *
 * `close()` gives back the leases and leaves the storage open: it belongs to who made it.
 */
export class SqlDocumentStore<Q extends QueryStore = QueryStore> implements DocumentStore {
  readonly storage: Q;
  /** In the same database, where the storage has functions for them. */
  readonly vectors?: VectorStore;
  readonly #leaseQueue = new LeaseQueue();
  readonly #held = new Map<SessionId, Held>();
  readonly #owner: LeaseOwner;
  readonly #blobs: BlobStore | undefined;
  readonly #inlineLength: number;
  #schema: Promise<void> | undefined;
  #closed = false;

  /**
   * `leaseMs` (default 30,000): after how long without a word a holder counts as dead, where the storage cannot tell.
   * `blobs`: where records of more than `inlineLength` characters (default 100,000) lie.
   */
  constructor(
    storage: Q,
    options: {
      leaseMs?: number | undefined;
      blobs?: BlobStore | undefined;
      inlineLength?: number | undefined;
    } = {},
  ) {
    this.storage = storage;
    this.#owner = new LeaseOwner(storage, newId(), options.leaseMs ?? LEASE_MS);
    this.#blobs = options.blobs;
    this.#inlineLength = options.inlineLength ?? 100_000;
    if (storage.vectors) {
      this.vectors = new SqlVectors(storage, (operation, session, work) => this.#run(operation, session, work));
    }
  }

  async acquire(
    session: SessionId,
    options: {
      waitMs?: number | undefined;
      signal?: AbortSignal | undefined;
      takeOver?: boolean | undefined;
    } = {},
  ): Promise<SessionLease> {
    const { waitMs = 0, signal, takeOver = false } = options;
    const until = performance.now() + waitMs;
    return this.#run("acquire", session, async () => {
      const turn = await this.#leaseQueue.acquire(session, waitMs, signal);
      try {
        await this.#owner.begin();
      } catch (error) {
        await turn.release();
        throw error;
      }
      try {
        const taken = await takeSession(this.storage, this.#owner, session, { until, signal, takeOver });
        const held: Held = { ...taken, tail: Promise.resolve() };
        if (this.#closed) {
          await this.#free(session, held);
          throw this.#closedError("acquire");
        }
        this.#held.set(session, held);
        return { session, fence: held.fence, release: () => this.#release(session, held, turn) };
      } catch (error) {
        await this.#owner.end();
        await turn.release();
        throw error;
      }
    });
  }

  async append(lease: SessionLease, records: readonly SessionRecord[]): Promise<number> {
    const { session } = lease;
    const bodies = records.map((record) => JSON.stringify(record)); // now: the caller may change them later
    return this.#run("append", session, async () => {
      const held = this.#held.get(session);
      if (held?.fence !== lease.fence) throw replaced(session);
      const done = held.tail.then(() => this.#write(session, held, records, bodies));
      held.tail = done.catch(() => {});
      return done;
    });
  }

  async *read(
    session: SessionId,
    range: { after?: number | undefined; before?: number | undefined; last?: number | undefined } = {},
  ): AsyncGenerator<StoredRecord, void, void> {
    // The end is taken now: a reader sees the log as it was when it began.
    const length = await this.#run("read", session, () => this.#lengthOf(session));
    const end = Math.min(length, (range.before ?? Number.POSITIVE_INFINITY) - 1);
    let at = Math.max(0, range.after ?? 0, range.last === undefined ? 0 : end - range.last);
    const sql = `SELECT seq, body, blob FROM shedkit_records WHERE session = ? AND seq > ? AND seq <= ?
      ORDER BY seq LIMIT ?`;
    for (let limit = 100; at < end; ) {
      const page = await this.#run("read", session, () =>
        this.#query<{ seq: number; body: string | null; blob: string | null }>(sql, [session, at, end, limit]),
      );
      if (page.length === 0) return; // deleted meanwhile
      let size = 0;
      for (const row of page) {
        size += row.body?.length ?? 0;
        at = Number(row.seq);
        // Most records wait for nothing: a promise for each would be half the cost of reading a log.
        const record = row.body === null ? await this.#blobRecord(row) : (JSON.parse(row.body) as SessionRecord);
        yield { seq: at, record };
      }
      limit = Math.max(1, Math.min(PAGE_RECORDS, limit * 10, Math.floor((PAGE_LENGTH * page.length) / (size + 1))));
    }
  }

  /** Records that hold words of the query, best first, by the database's full-text index. */
  async search(session: SessionId, query: string, limit: number): Promise<{ seq: number; score: number }[]> {
    return this.#run("search", session, async () => {
      const phrases = [...new Set(phrasesOf(query))];
      if (phrases.length === 0 || limit <= 0) return [];
      const dialect = dialectOf(this.storage);
      const args = [dialect.match(session, phrases), session, limit];
      const hits = await this.#query<{ seq: number; score: number }>(dialect.search, args);
      return hits.map((hit) => ({ seq: Number(hit.seq), score: Number(hit.score) }));
    });
  }

  async sessions(
    query: { text?: string | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
  ): Promise<{ items: SessionInfo[]; cursor?: string | undefined }> {
    return this.#run("sessions", "", () => listSessions(this.storage, query));
  }

  async delete(session: SessionId): Promise<boolean> {
    return this.#run("delete", session, async () => {
      const held = this.#held.get(session);
      this.#held.delete(session);
      await held?.tail;
      const found = (await this.#lengthOf(session)) > 0;
      const blobs = this.#blobs && (await this.#blobsOf(session));
      const { unindex } = dialectOf(this.storage);
      // The row stays, for its fence: a lease of the deleted session must never fit its successor.
      await this.#batch([
        ...(unindex === undefined ? [] : [{ sql: unindex, args: [session] }]),
        { sql: "DELETE FROM shedkit_records WHERE session = ?", args: [session] },
        {
          sql: `UPDATE shedkit_sessions SET fence = fence + 1, owner = NULL, records = 0, title = NULL, created_at = NULL,
            updated_at = NULL, parent_session = NULL, parent_record = NULL WHERE id = ?`,
          args: [session],
        },
      ]);
      for (const blob of blobs ?? []) await this.#blobs?.delete(blob);
      if (held !== undefined) {
        await this.#owner.end();
        this.#leaseQueue.revoke(session);
      }
      return found;
    });
  }

  /** Gives back every lease. The storage stays open. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#leaseQueue.close(() => this.#closedError("acquire"));
    const held = [...this.#held];
    this.#held.clear();
    for (const [session, lease] of held) {
      await lease.tail;
      await this.#free(session, lease).catch(() => {}); // a storage that is closed already; its leases count no more
      await this.#owner.end();
    }
  }

  async #write(
    session: SessionId,
    held: Held,
    records: readonly SessionRecord[],
    bodies: readonly string[],
  ): Promise<number> {
    if (records.length === 0) return held.records;
    const dialect = dialectOf(this.storage);
    const rows = await rowsOf(records, bodies, this.#blobs, this.#inlineLength);
    const statements = [sessionUpdate(session, held, records)];
    for (const list of listsOf(rows, held.records)) {
      statements.push({ sql: dialect.insert, args: [session, list] });
      if (dialect.index) statements.push({ sql: dialect.index, args: [dialect.token(session), list, session] });
    }
    const end = held.records + records.length;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#batch(statements);
        held.records = end;
        return end;
      } catch (error) {
        // Was it refused, undone, or done with its answer lost on the way?
        const now = await this.#outcome(session, end);
        const last = rows.at(-1);
        if (now !== undefined && now.fence === held.fence) {
          const before = held.records;
          held.records = now.records;
          if (now.body === last?.body && now.blob === last.blob) return end;
          // The statements name the fence and the length of the log: they are done once, however often they are sent.
          const passes = AgenticError.is(error) && error.retryable && now.records === before;
          if (passes && attempt < APPEND_ATTEMPTS) {
            await pause(FIRST_RETRY_MS * 4 ** (attempt - 1), session, undefined);
            continue;
          }
        }
        // Where nobody can tell, the records may be there and need what they name.
        if (now !== undefined) await this.#drop(rows.flatMap(({ blob }) => blob ?? []));
        if (now !== undefined && now.fence !== held.fence) throw replaced(session);
        throw error;
      }
    }
  }

  /** What became of an append; undefined where the database does not say. */
  async #outcome(
    session: SessionId,
    end: number,
  ): Promise<{ fence: number; records: number; body: string | null; blob: string | null } | undefined> {
    const [row] = await this.#query<{ fence: number; records: number; body: string | null; blob: string | null }>(
      `SELECT s.fence, s.records, r.body, r.blob FROM shedkit_sessions s
        LEFT JOIN shedkit_records r ON r.session = s.id AND r.seq = ? WHERE s.id = ?`,
      [end, session],
    ).catch(() => []);
    return row && { ...row, fence: Number(row.fence), records: Number(row.records) };
  }

  /** Removes blobs that no record names. One that cannot be removed only takes room. */
  async #drop(blobs: readonly string[]): Promise<void> {
    for (const blob of blobs) await this.#blobs?.delete(blob).catch(() => {});
  }

  async #release(session: SessionId, held: Held, turn: SessionLease): Promise<void> {
    if (this.#held.get(session) !== held) return turn.release();
    this.#held.delete(session);
    await held.tail;
    try {
      await this.#free(session, held);
    } catch (error) {
      throw storeError(error, "sql", "release");
    } finally {
      await this.#owner.end();
      await turn.release();
    }
  }

  async #free(session: SessionId, held: Held): Promise<void> {
    const sql = "UPDATE shedkit_sessions SET owner = NULL WHERE id = ? AND fence = ?";
    await this.#query(sql, [session, held.fence]);
  }

  async #blobRecord(row: { seq: unknown; blob: string | null }): Promise<SessionRecord> {
    try {
      return await recordOf(row, this.#blobs);
    } catch (error) {
      throw storeError(error, "sql", "read");
    }
  }

  async #lengthOf(session: SessionId): Promise<number> {
    const sql = "SELECT records FROM shedkit_sessions WHERE id = ?";
    return Number((await this.#query<{ records: number }>(sql, [session]))[0]?.records ?? 0);
  }

  async #blobsOf(session: SessionId): Promise<string[]> {
    const sql = "SELECT blob FROM shedkit_records WHERE session = ? AND blob IS NOT NULL";
    return (await this.#query<{ blob: string }>(sql, [session])).map((row) => row.blob);
  }

  #query<R extends { [column: string]: unknown }>(sql: string, args: readonly unknown[]): Promise<R[]> {
    return this.storage.query<R>(numbered(this.storage, sql), args);
  }

  #batch(statements: readonly Statement[]): Promise<void> {
    return this.storage.batch(statements.map(({ sql, args }) => ({ sql: numbered(this.storage, sql), args })));
  }

  /** Runs an operation on tables that are there; whatever it throws is an AgenticError. */
  async #run<T>(operation: string, session: string, work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw this.#closedError(operation);
    checkKey(session, "sql", operation);
    try {
      this.#schema ??= migrate(this.storage, "documents", dialectOf(this.storage).migrations);
      await this.#schema.catch((error: unknown) => {
        this.#schema = undefined; // the next operation tries again
        throw error;
      });
      return await work();
    } catch (error) {
      throw storeError(error, "sql", operation);
    }
  }

  #closedError(operation: string) {
    return closedError("sql", operation, "Make a new SqlDocumentStore.");
  }
}

/** The session's row after an append. Under another fence `records` would be NULL, which undoes the whole batch. */
function sessionUpdate(session: SessionId, held: Held, records: readonly SessionRecord[]): Statement {
  const title = records.map(titleOf).find((found) => found !== undefined);
  const fork = records.findLast((record) => record.type === "forkedFrom");
  const text = (value: string | undefined): string | null => (value === undefined ? null : plainText(value));
  return {
    sql: `UPDATE shedkit_sessions SET records = CASE WHEN fence = ? AND records = ? THEN records + ? ELSE NULL END,
      title = COALESCE(title, ?), created_at = COALESCE(created_at, ?), updated_at = ?,
      parent_session = COALESCE(?, parent_session), parent_record = COALESCE(?, parent_record) WHERE id = ?`,
    args: [
      held.fence,
      held.records,
      records.length,
      text(title),
      Math.trunc(records[0]?.at ?? 0),
      Math.trunc(records.at(-1)?.at ?? 0),
      text(fork?.session),
      text(fork?.record),
      session,
    ],
  };
}

function replaced(session: SessionId) {
  return busyError(session, "This lease was released or replaced; acquire the session again.");
}
