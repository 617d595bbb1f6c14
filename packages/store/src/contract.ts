import type { JsonValue, SessionId, SessionRecord } from "@shedkit/types";

/** The right to append to a session; `fence` grows with every lease. */
export interface SessionLease {
  readonly session: SessionId;
  readonly fence: number;
  release(): Promise<void>;
}

/** What a listing says of a session. */
export interface SessionInfo {
  id: SessionId;
  title?: string | undefined;
  /** Milliseconds since the epoch. */
  createdAt: number;
  updatedAt: number;
  records: number;
  parent?: { session: SessionId; record: string } | undefined;
}

/** A record and its place in the log; the first is 1. */
export interface StoredRecord {
  seq: number;
  record: SessionRecord;
}

/** Session logs, append-only. Failures are AgenticError `store`. What a session id may hold: see {@link KeyValueStore}. */
export interface DocumentStore {
  /**
   * One writer a session. Waits up to `waitMs` (default 0), then AgenticError `sessionBusy`. With `takeOver`, a holder in
   * another process is not waited for, alive or not: its appends are refused from then on. It is for who knows that the
   * holder is cut off. Stores of files leave it out: there a holder that is alive is asked to end, or waited for.
   */
  acquire(
    session: SessionId,
    options?: {
      waitMs?: number | undefined;
      signal?: AbortSignal | undefined;
      takeOver?: boolean | undefined;
    },
  ): Promise<SessionLease>;
  /** Durable, all or none; returns the sequence number of the last. An old fence is refused with `sessionBusy`. */
  append(lease: SessionLease, records: readonly SessionRecord[]): Promise<number>;
  /** In order of `seq`; `after` and `before` exclude their ends, `last` takes the newest n of what is left. */
  read(
    session: SessionId,
    range?: { after?: number | undefined; before?: number | undefined; last?: number | undefined },
  ): AsyncIterable<StoredRecord>;
  search?(session: SessionId, query: string, limit: number): Promise<{ seq: number; score: number }[]>;
  /** For recall by meaning. Absent where the store keeps no vectors. */
  readonly vectors?: VectorStore | undefined;
  /** Newest first. */
  sessions(query?: {
    text?: string | undefined;
    limit?: number | undefined;
    cursor?: string | undefined;
  }): Promise<{ items: SessionInfo[]; cursor?: string | undefined }>;
  /** False where there was none. */
  delete(session: SessionId): Promise<boolean>;
  close(): Promise<void>;
}

/** Vectors of records. Those of different models (`Embedder.id`) do not mix; they are gone with their session. */
export interface VectorStore {
  /** Keeps vectors, in place of those that the records had. Records that are not in the log are left out. */
  put(session: SessionId, model: string, vectors: readonly { seq: number; vector: Float32Array }[]): Promise<void>;
  /** The newest record that has one; 0 for none. */
  last(session: SessionId, model: string): Promise<number>;
  /** The records whose vectors point the same way, best first; `score` is the cosine, from -1 to 1. */
  nearest(
    session: SessionId,
    model: string,
    vector: Float32Array,
    limit: number,
  ): Promise<{ seq: number; score: number }[]>;
}

/**
 * Keys are any well-formed text without U+0000; another is refused with AgenticError `store`, and so is a value that is
 * no JSON.
 */
export interface KeyValueStore {
  get(key: string): Promise<JsonValue | undefined>;
  /** Returns the new version. With `ifVersion`, only if that is the version now (0: absent), else AgenticError `store`. */
  set(key: string, value: JsonValue, options?: { ifVersion?: number | undefined }): Promise<number>;
  delete(key: string): Promise<boolean>;
  /** In the order of their code points. */
  keys(prefix?: string): AsyncIterable<string>;
  close(): Promise<void>;
}

/** A database that is asked in SQL. */
export interface QueryStore {
  query<R extends { [column: string]: unknown }>(sql: string, args?: readonly unknown[]): Promise<R[]>;
  /** One transaction. */
  batch(statements: readonly { sql: string; args?: readonly unknown[] | undefined }[]): Promise<void>;
  readonly dialect: "sqlite" | "postgres";
  /** Goes before the names of the tables that stores on top of it make. Default: nothing. */
  readonly tablePrefix?: string | undefined;
  /** Whether it has libSQL's `vector_distance_cos`, over blobs of 32-bit floats. Default: no. */
  readonly vectors?: boolean | undefined;
  /** Names this object among all that use the database, where the others can tell whether its process still runs. */
  readonly owner?: string | undefined;
  /** Whether the object of that name still works; `undefined` where it cannot be told. Comes with `owner`. */
  isAlive?(owner: string): Promise<boolean | undefined>;
  close(): Promise<void>;
}

/** Bytes by key, for what is too large for a database. */
export interface BlobStore {
  put(key: string, data: Uint8Array): Promise<void>;
  get(key: string): Promise<Uint8Array | undefined>;
  delete(key: string): Promise<boolean>;
}

/** The newest record of each memory tier. */
export interface MemoryTiers {
  working?: Extract<SessionRecord, { type: "workingMemory" }> | undefined;
  observation?: Extract<SessionRecord, { type: "observation" }> | undefined;
  reflection?: Extract<SessionRecord, { type: "reflection" }> | undefined;
}

/** Keeps what sessions remember: the newest record of each tier. */
export interface MemoryStore {
  read(session: SessionId): Promise<MemoryTiers>;
  write<K extends keyof MemoryTiers>(session: SessionId, tier: K, value: MemoryTiers[K]): Promise<void>;
  clear(session: SessionId): Promise<void>;
}
