import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { DocumentStore, SessionInfo, SessionLease, StoredRecord } from "@shedkit/store";
import {
  busyError,
  checkKey,
  closedError,
  hasText,
  jsonText,
  LeaseQueue,
  pageOf,
  pause,
  rangeOf,
  scoreText,
  storeError,
  textOfRecord,
  wordsOf,
} from "@shedkit/store/backend";
import { newId, type SessionId, type SessionRecord } from "@shedkit/types";
import type { FileLock } from "./file-lock.js";
import { appendToLog, recoverLog } from "./log-append.js";
import { DamagedLog, LogReader } from "./log-file.js";
import { infoOf } from "./log-info.js";
import { fileName } from "./names.js";
import { DELETED, type JsonFileStorage } from "./storage.js";
import { isMissing } from "./write-file.js";

/** An append that a crash had torn: its bytes were moved out of the log into `file`. */
export interface Recovery {
  session: SessionId;
  file: string;
  bytes: number;
}

/** A lease as its holder sees it. */
interface Held {
  readonly lease: SessionLease;
  readonly lock: FileLock;
  readonly fence: number;
  records: number;
  size: number;
  /** Ends when the appends so far have. */
  tail: Promise<unknown>;
}

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;
/** How many logs a listing looks into at a time. */
const LISTED_AT_ONCE = 32;

/**
 * Session logs as files of JSON lines, one folder a session. An append adds to the end of its file and is on the disk
 * when it resolves. A lock file keeps two processes apart, and holds nobody up when its process dies.
 *
 * `close()` gives back the leases and leaves the storage open: it belongs to who made it.
 */
export class JsonFileDocumentStore implements DocumentStore {
  readonly storage: JsonFileStorage;
  readonly #sessions: string;
  readonly #onRecovered: ((recovery: Recovery) => void) | undefined;
  readonly #queue = new LeaseQueue();
  readonly #held = new Map<SessionId, Held>();
  #closed = false;

  /** `onRecovered` is told when `acquire` finds an append that a crash had torn. */
  constructor(storage: JsonFileStorage, options: { onRecovered?: ((recovery: Recovery) => void) | undefined } = {}) {
    this.storage = storage;
    this.#sessions = join(storage.folder, "sessions");
    this.#onRecovered = options.onRecovered;
  }

  async acquire(
    session: SessionId,
    options: { waitMs?: number | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<SessionLease> {
    const { waitMs = 0, signal } = options;
    const until = performance.now() + waitMs;
    return this.#run("acquire", session, async () => {
      const turn = await this.#queue.acquire(session, waitMs, signal);
      const lock = this.storage.lockIn(this.#folderOf(session));
      let fence: number | undefined;
      try {
        fence = await this.#take(lock, session, until, signal);
        const end = await recoverLog(this.#folderOf(session), fence);
        if (end.torn) this.#onRecovered?.({ session, ...end.torn });
        this.#check("acquire");
        const lease: SessionLease = { session, fence, release: () => this.#release(session, held, turn) };
        const held: Held = { lease, lock, fence, records: end.records, size: end.size, tail: Promise.resolve() };
        this.#held.set(session, held);
        return lease;
      } catch (error) {
        if (fence !== undefined) await lock.release(fence);
        await turn.release();
        throw error;
      }
    });
  }

  async append(lease: SessionLease, records: readonly SessionRecord[]): Promise<number> {
    const { session } = lease;
    const bodies = records.map((record) => jsonText(record, "json-file", "append")); // now: the caller may change them later
    return this.#run("append", session, async () => {
      const held = this.#held.get(session);
      if (held?.lease !== lease) throw replaced(session);
      const done = held.tail.then(async () => {
        if (!(await held.lock.isMine(held.fence))) throw replaced(session);
        if (bodies.length === 0) return held.records;
        held.size = await appendToLog(this.#folderOf(session), session, held, bodies);
        held.records += bodies.length;
        return held.records;
      });
      held.tail = done.catch(() => {});
      return done;
    });
  }

  async *read(
    session: SessionId,
    range: { after?: number | undefined; before?: number | undefined; last?: number | undefined } = {},
  ): AsyncGenerator<StoredRecord, void, void> {
    const log = await this.#run("read", session, () => this.#open(session));
    if (log === undefined) return;
    try {
      // The end is taken now: a reader sees the log as it was when it began.
      const { records, size } = await log.end();
      const { after, end } = rangeOf(records, range, "json-file");
      for await (const { seq, record } of log.read(after, end, size)) yield { seq, record };
    } catch (error) {
      throw storeError(error, "json-file", "read");
    } finally {
      await log.close();
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
    return this.#run("sessions", "", async () => {
      const names = await readdir(this.#sessions).catch((error: unknown) => {
        if (isMissing(error)) return [];
        throw error;
      });
      const infos: SessionInfo[] = [];
      for (let i = 0; i < names.length; i += LISTED_AT_ONCE) {
        const some = names.slice(i, i + LISTED_AT_ONCE).map((name) => infoOf(join(this.#sessions, name)));
        for (const info of await Promise.all(some)) if (info !== undefined) infos.push(info);
      }
      return pageOf(infos, query, (session, text) => this.#mentions(session, text), "json-file");
    });
  }

  async delete(session: SessionId): Promise<boolean> {
    return this.#run("delete", session, async () => {
      const held = this.#held.get(session);
      this.#held.delete(session);
      await held?.tail;
      const log = await this.#open(session);
      const records = (await log?.end())?.records ?? 0;
      await log?.close();
      const gone = join(this.storage.folder, `${DELETED}${newId()}`);
      try {
        if (log !== undefined) await rename(this.#folderOf(session), gone); // at once, with the lock in it
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
      await rm(gone, { recursive: true, force: true });
      if (held !== undefined) {
        await held.lock.release(held.fence);
        this.#queue.revoke(session);
      }
      return records > 0;
    });
  }

  /** Gives back every lease. The storage stays open. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#queue.close(() => this.#closedError("acquire"));
    const held = [...this.#held.values()];
    this.#held.clear();
    for (const { tail, lock, fence } of held) {
      await tail;
      await lock.release(fence);
    }
  }

  async #take(lock: FileLock, session: SessionId, until: number, signal: AbortSignal | undefined): Promise<number> {
    for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
      const fence = await lock.tryTake();
      if (fence !== undefined) return fence;
      const left = until - performance.now();
      if (left <= 0) {
        throw busyError(session, "Another process is writing to it; end that one first, or wait longer (waitMs).");
      }
      await pause(Math.min(ms, left), session, signal);
      this.#check("acquire");
    }
  }

  async #release(session: SessionId, held: Held, turn: SessionLease): Promise<void> {
    if (this.#held.get(session) !== held) return turn.release();
    this.#held.delete(session);
    await held.tail;
    try {
      await held.lock.release(held.fence);
    } catch (error) {
      throw storeError(error, "json-file", "release");
    } finally {
      await turn.release();
    }
  }

  async #open(session: SessionId): Promise<LogReader | undefined> {
    return LogReader.open(join(this.#folderOf(session), "log.jsonl"));
  }

  async #mentions(session: SessionId, text: string): Promise<boolean> {
    try {
      for await (const { record } of this.read(session)) if (hasText(record, text)) return true;
    } catch (error) {
      if (!((error as Error).cause instanceof DamagedLog)) throw error; // else as far as it can be read
    }
    return false;
  }

  #folderOf(session: SessionId): string {
    return join(this.#sessions, fileName(session));
  }

  #check(operation: string): void {
    if (this.#closed) throw this.#closedError(operation);
    this.storage.check(operation);
  }

  #closedError(operation: string) {
    return closedError("json-file", operation, "Make a new JsonFileDocumentStore.");
  }

  async #run<T>(operation: string, session: string, work: () => Promise<T>): Promise<T> {
    this.#check(operation);
    checkKey(session, "json-file", operation);
    try {
      return await work();
    } catch (error) {
      throw storeError(error, "json-file", operation);
    }
  }
}

function replaced(session: SessionId) {
  return busyError(session, "This lease was released or replaced; acquire the session again.");
}
