import { newId, type SessionId, type SessionRecord } from "@shedkit/types";
import type {
  BlobStore,
  DocumentStore,
  QueryStore,
  SessionInfo,
  SessionLease,
  StoredRecord,
  VectorStore,
} from "./contract.js";
import { jsonText } from "./json-text.js";
import { checkKey } from "./keys.js";
import { LeaseQueue } from "./lease-queue.js";
import { Database } from "./sql/database.js";
import { takeSession } from "./sql/leases.js";
import { listSessions } from "./sql/listing.js";
import { appendTo, type Held, type LogPlace, replaced } from "./sql/log-append.js";
import { blobsOf, lengthOf, readLog } from "./sql/log-read.js";
import { migrate } from "./sql/migrate.js";
import { LeaseOwner } from "./sql/owner.js";
import { phrasesOf } from "./sql/terms.js";
import { SqlVectors } from "./sql/vectors.js";
import { closedError, storeError } from "./store-error.js";

const LEASE_MS = 30_000;

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
  readonly #place: LogPlace;
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
    const database = new Database(storage);
    this.#place = { database, blobs: options.blobs, inlineLength: options.inlineLength ?? 100_000 };
    if (storage.vectors) {
      this.vectors = new SqlVectors(database, (operation, session, work) => this.#run(operation, session, work));
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
        const taken = await takeSession(this.#place.database, this.#owner, session, { until, signal, takeOver });
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
    const bodies = records.map((record) => jsonText(record, "sql", "append")); // now: the caller may change them later
    return this.#run("append", session, async () => {
      const held = this.#held.get(session);
      if (held?.fence !== lease.fence) throw replaced(session);
      const done = held.tail.then(() => appendTo(this.#place, session, held, records, bodies));
      held.tail = done.catch(() => {});
      return done;
    });
  }

  async *read(
    session: SessionId,
    range: { after?: number | undefined; before?: number | undefined; last?: number | undefined } = {},
  ): AsyncGenerator<StoredRecord, void, void> {
    yield* readLog(this.#place, session, range, (work) => this.#run("read", session, work));
  }

  /** Records that hold words of the query, best first, by the database's full-text index. */
  async search(session: SessionId, query: string, limit: number): Promise<{ seq: number; score: number }[]> {
    return this.#run("search", session, async () => {
      const phrases = [...new Set(phrasesOf(query))];
      if (phrases.length === 0 || limit <= 0) return [];
      const { database } = this.#place;
      const args = [database.dialect.match(session, phrases), session, limit];
      const hits = await database.query<{ seq: number; score: number }>(database.dialect.search, args);
      return hits.map((hit) => ({ seq: Number(hit.seq), score: Number(hit.score) }));
    });
  }

  async sessions(
    query: { text?: string | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
  ): Promise<{ items: SessionInfo[]; cursor?: string | undefined }> {
    return this.#run("sessions", "", () => listSessions(this.#place.database, query));
  }

  async delete(session: SessionId): Promise<boolean> {
    return this.#run("delete", session, async () => {
      const held = this.#held.get(session);
      this.#held.delete(session);
      await held?.tail;
      const { database, blobs } = this.#place;
      const found = (await lengthOf(database, session)) > 0;
      const names = blobs ? await blobsOf(database, session) : [];
      const { unindex } = database.dialect;
      // The row stays, for its fence: a lease of the deleted session must never fit its successor.
      await database.batch([
        ...(unindex === undefined ? [] : [{ sql: unindex, args: [session] }]),
        { sql: "DELETE FROM shedkit_records WHERE session = ?", args: [session] },
        {
          sql: `UPDATE shedkit_sessions SET fence = fence + 1, owner = NULL, records = 0, title = NULL, created_at = NULL,
            updated_at = NULL, parent_session = NULL, parent_record = NULL WHERE id = ?`,
          args: [session],
        },
      ]);
      for (const name of names) await blobs?.delete(name);
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
    await this.#place.database.query(sql, [session, held.fence]);
  }

  /** Runs an operation on tables that are there; whatever it throws is an AgenticError. */
  async #run<T>(operation: string, session: string, work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw this.#closedError(operation);
    checkKey(session, "sql", operation);
    try {
      this.#schema ??= migrate(this.storage, "documents", this.#place.database.dialect.migrations);
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
