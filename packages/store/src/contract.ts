import type { JsonValue, SessionId, SessionRecord } from "@shedkit/types";

/** The right to append to a session; `fence` grows with every lease. */
export interface SessionLease {
  readonly session: SessionId;
  readonly fence: number;
  release(): Promise<void>;
}

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
  /** One writer a session. Waits up to `waitMs` (default 0), then AgenticError `sessionBusy`. */
  acquire(
    session: SessionId,
    options?: { waitMs?: number | undefined; signal?: AbortSignal | undefined },
  ): Promise<SessionLease>;
  /** Durable, all or none; returns the sequence number of the last. An old fence is refused with `sessionBusy`. */
  append(lease: SessionLease, records: readonly SessionRecord[]): Promise<number>;
  /** In order of `seq`; `after` and `before` exclude their ends, `last` takes the newest n of what is left. */
  read(
    session: SessionId,
    range?: { after?: number | undefined; before?: number | undefined; last?: number | undefined },
  ): AsyncIterable<StoredRecord>;
  search?(session: SessionId, query: string, limit: number): Promise<{ seq: number; score: number }[]>;
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

/** Keys are any well-formed text without U+0000; another is refused with AgenticError `store`. */
export interface KeyValueStore {
  get(key: string): Promise<JsonValue | undefined>;
  /** Returns the new version. With `ifVersion`, only if that is the version now (0: absent), else AgenticError `store`. */
  set(key: string, value: JsonValue, options?: { ifVersion?: number | undefined }): Promise<number>;
  delete(key: string): Promise<boolean>;
  /** In the order of their code points. */
  keys(prefix?: string): AsyncIterable<string>;
  close(): Promise<void>;
}

export interface QueryStore {
  query<R extends { [column: string]: unknown }>(sql: string, args?: readonly unknown[]): Promise<R[]>;
  /** One transaction. */
  batch(statements: readonly { sql: string; args?: readonly unknown[] | undefined }[]): Promise<void>;
  readonly dialect: "sqlite" | "postgres";
  /** Names this object among all that use the database, where the others can tell whether its process still runs. */
  readonly owner?: string | undefined;
  /** Whether the object of that name still works; `undefined` where it cannot be told. Comes with `owner`. */
  isAlive?(owner: string): Promise<boolean | undefined>;
  close(): Promise<void>;
}

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

export interface MemoryStore {
  read(session: SessionId): Promise<MemoryTiers>;
  write<K extends keyof MemoryTiers>(session: SessionId, tier: K, value: MemoryTiers[K]): Promise<void>;
  clear(session: SessionId): Promise<void>;
}
