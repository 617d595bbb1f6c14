import type { DocumentStore, SessionInfo, SessionLease, StoredRecord } from "@shedkit/store";
import {
  busyError,
  checkKey,
  closedError,
  hasText,
  infoAfter,
  jsonText,
  pageOf,
  pause,
  rangeOf,
  scoreText,
  storeError,
  textOfRecord,
  wordsOf,
} from "@shedkit/store/backend";
import type { SessionId, SessionRecord } from "@shedkit/types";
import { AFTER, isLocked, type Level, SEPARATOR } from "./database.js";
import type { LevelStorage } from "./storage.js";

/** A lease as its holder sees it. */
interface Held {
  readonly lease: SessionLease;
  /** Its place in the storage's queue. */
  readonly turn: SessionLease;
  info: SessionInfo | undefined;
  /** Ends when the appends so far have. */
  tail: Promise<unknown>;
}

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;
const SEQ_DIGITS = 12;

/**
 * Session logs in LevelDB. An append is one atomic batch, on the disk when it resolves, and costs the same however long
 * the log is.
 *
 * `close()` gives back the leases and leaves the storage open: it belongs to who made it.
 */
export class LevelDocumentStore implements DocumentStore {
  readonly storage: LevelStorage;
  readonly #held = new Map<SessionId, Held>();
  #closed = false;

  constructor(storage: LevelStorage) {
    this.storage = storage;
  }

  async acquire(
    session: SessionId,
    options: { waitMs?: number | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<SessionLease> {
    const { waitMs = 0, signal } = options;
    const until = performance.now() + waitMs;
    this.#check("acquire", session);
    try {
      const turn = await this.storage.leases.acquire(session, waitMs, signal);
      try {
        const db = await this.#waitForDatabase(session, until, signal);
        const fence = Number((await db.get(fenceKey(session))) ?? 0) + 1;
        await db.put(fenceKey(session), `${fence}`, { sync: true });
        const info = await readInfo(db, session);
        this.#check("acquire", session);
        const lease: SessionLease = { session, fence, release: () => this.#release(held) };
        const held: Held = { lease, turn, info, tail: Promise.resolve() };
        this.#held.set(session, held);
        return lease;
      } catch (error) {
        await turn.release();
        throw error;
      }
    } catch (error) {
      throw storeError(error, "level", "acquire");
    }
  }

  async append(lease: SessionLease, records: readonly SessionRecord[]): Promise<number> {
    const { session } = lease;
    const bodies = records.map((record) => jsonText(record, "level", "append")); // now: the caller may change them later
    return this.#run("append", session, async (db) => {
      const held = this.#held.get(session);
      if (held?.lease !== lease) throw replaced(session);
      const done = held.tail.then(async () => {
        this.storage.leases.check(held.turn); // another document store may have deleted the session
        const before = held.info?.records ?? 0;
        if (bodies.length === 0) return before;
        const info = infoAfter(held.info, session, records);
        const puts = bodies.map((body, i) => put(recordKey(session, before + i + 1), body));
        await db.batch([...puts, put(infoKey(session), JSON.stringify(info))], { sync: true });
        held.info = info;
        return info.records;
      });
      held.tail = done.catch(() => {});
      return done;
    });
  }

  async *read(
    session: SessionId,
    range: { after?: number | undefined; before?: number | undefined; last?: number | undefined } = {},
  ): AsyncGenerator<StoredRecord, void, void> {
    const [db, info] = await this.#run(
      "read",
      session,
      async (opened) => [opened, await readInfo(opened, session)] as const,
    );
    // The end is taken now: a reader sees the log as it was when it began.
    const { after, end } = rangeOf(info?.records ?? 0, range, "level");
    if (after >= end) return;
    try {
      let seq = after;
      for await (const body of db.values({ gt: recordKey(session, after), lte: recordKey(session, end) })) {
        yield { seq: ++seq, record: JSON.parse(body) as SessionRecord };
      }
    } catch (error) {
      throw storeError(error, "level", "read");
    }
  }

  /** Records that hold words of the query, best first: the share of its words that a record has. Scans the log. */
  async search(session: SessionId, query: string, limit: number): Promise<{ seq: number; score: number }[]> {
    const words = wordsOf(query);
    const hits: { seq: number; score: number }[] = [];
    for await (const { seq, record } of this.read(session)) {
      const score = scoreText(words, textOfRecord(record));
      if (score > 0) hits.push({ seq, score });
    }
    return hits.sort((a, b) => b.score - a.score || b.seq - a.seq).slice(0, limit);
  }

  async sessions(
    query: { text?: string | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
  ): Promise<{ items: SessionInfo[]; cursor?: string | undefined }> {
    return this.#run("sessions", "", async (db) => {
      const infos: SessionInfo[] = [];
      for await (const text of db.values({ gt: infoKey(""), lt: `i${AFTER}` })) infos.push(JSON.parse(text));
      return pageOf(infos, query, (session, text) => this.#mentions(session, text), "level");
    });
  }

  async delete(session: SessionId): Promise<boolean> {
    return this.#run("delete", session, async (db) => {
      const held = this.#held.get(session);
      this.#held.delete(session);
      await held?.tail;
      const info = await readInfo(db, session);
      const keys = await db.keys({ gt: recordKey(session, 0), lt: `r${SEPARATOR}${session}${AFTER}` }).all();
      // The fence stays: a lease of the deleted session must never fit its successor.
      await db.batch(
        [...keys, infoKey(session)].map((key) => ({ type: "del" as const, key })),
        { sync: true },
      );
      this.storage.leases.revoke(session);
      return info !== undefined;
    });
  }

  /** Gives back every lease. The storage stays open. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const held = [...this.#held.values()];
    await Promise.all(held.map(({ lease }) => lease.release()));
  }

  /** The database belongs to one process at a time, and so do its sessions. */
  async #waitForDatabase(session: SessionId, until: number, signal: AbortSignal | undefined): Promise<Level> {
    for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
      try {
        return await this.storage.database("acquire");
      } catch (error) {
        if (!isLocked(error)) throw error;
      }
      const left = until - performance.now();
      if (left <= 0) {
        throw busyError(session, "Another process has the database open; close it there, or wait longer (waitMs).");
      }
      await pause(Math.min(ms, left), session, signal);
    }
  }

  async #release(held: Held): Promise<void> {
    const { session } = held.lease;
    if (this.#held.get(session) === held) this.#held.delete(session);
    await held.tail;
    await held.turn.release();
  }

  async #mentions(session: SessionId, text: string): Promise<boolean> {
    for await (const { record } of this.read(session)) if (hasText(record, text)) return true;
    return false;
  }

  #check(operation: string, session: string): void {
    if (this.#closed) throw closedError("level", operation, "Make a new LevelDocumentStore.");
    checkKey(session, "level", operation);
  }

  async #run<T>(operation: string, session: string, work: (db: Level) => Promise<T>): Promise<T> {
    this.#check(operation, session);
    try {
      return await work(await this.storage.database(operation));
    } catch (error) {
      throw storeError(error, "level", operation);
    }
  }
}

async function readInfo(db: Level, session: SessionId): Promise<SessionInfo | undefined> {
  const text = await db.get(infoKey(session));
  return text === undefined ? undefined : (JSON.parse(text) as SessionInfo);
}

const put = (key: string, value: string) => ({ type: "put" as const, key, value });
const infoKey = (session: string): string => `i${SEPARATOR}${session}`;
const fenceKey = (session: string): string => `f${SEPARATOR}${session}`;
const recordKey = (session: string, seq: number): string =>
  `r${SEPARATOR}${session}${SEPARATOR}${String(seq).padStart(SEQ_DIGITS, "0")}`;

function replaced(session: SessionId) {
  return busyError(session, "This lease was released or replaced; acquire the session again.");
}
