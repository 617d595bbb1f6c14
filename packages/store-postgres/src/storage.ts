import type { KeyValueStore, QueryStore } from "@shedkit/store";
import { closedError, SqlKeyValues, storeError } from "@shedkit/store/backend";
import { AgenticError, type JsonValue } from "@shedkit/types";
import pg from "pg";
import { lockQuery, Presence } from "./presence.js";
import { Sockets } from "./sockets.js";

/** For how long a server that does not answer is waited for. A search in a large database may take seconds. */
const TIMEOUT_MS = 60_000;

/**
 * A PostgreSQL database as key-value and query store: one object backs a `SqlDocumentStore` and a `KvMemoryStore`.
 * Failures are AgenticError `store`. `close()` when done; stores on top of it do not.
 */
export class PostgresStorage implements KeyValueStore, QueryStore {
  readonly dialect = "postgres";
  readonly #pool: pg.Pool;
  readonly #sockets = new Sockets();
  readonly #presence: Presence;
  readonly #values: SqlKeyValues;
  #closing: Promise<void> | undefined;

  private constructor(connectionString: string, timeoutMs: number) {
    const common = { connectionString, keepAlive: true, stream: this.#sockets.make };
    const limits = { connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs };
    this.#pool = new pg.Pool({ ...common, ...limits, types: { getTypeParser } });
    this.#pool.on("error", () => {}); // an idle connection broke: the pool opens another when needed
    // One that breaks between two statements of a batch: its next statement fails, and says so.
    this.#pool.on("connect", (client) => client.on("error", () => {}));
    this.#presence = new Presence({ ...common, ...limits });
    this.#values = new SqlKeyValues(this, "postgres");
  }

  /**
   * Connects to `postgres://user:password@host:port/database` and brings the tables up to date. They lie in the first
   * schema of the search path, which `?options=-c search_path=NAME` sets. `timeoutMs` (default 60,000) is for how long a
   * server is waited for that does not answer, at each statement.
   */
  static async open(
    connectionString: string,
    { timeoutMs = TIMEOUT_MS }: { timeoutMs?: number | undefined } = {},
  ): Promise<PostgresStorage> {
    const storage = new PostgresStorage(connectionString, timeoutMs);
    try {
      await storage.#presence.begin();
      await storage.initSchema();
    } catch (error) {
      await storage.close();
      throw postgresError(error, "open");
    }
    return storage;
  }

  /** Makes the table of keys and values, or brings it up to date. `open` has done it. */
  initSchema(): Promise<void> {
    return this.#values.initSchema();
  }

  async query<R extends { [column: string]: unknown }>(sql: string, args: readonly unknown[] = []): Promise<R[]> {
    return this.#run("query", async () => (await this.#pool.query<R>(sql, [...args])).rows);
  }

  async batch(statements: readonly { sql: string; args?: readonly unknown[] | undefined }[]): Promise<void> {
    await this.#run("batch", async () => {
      if (statements.length === 0) return;
      const client = await this.#pool.connect();
      let broken: Error | undefined;
      try {
        await client.query("BEGIN");
        for (const { sql, args = [] } of statements) await client.query(sql, [...args]);
        await client.query("COMMIT");
      } catch (error) {
        // A connection that cannot be rolled back must not be handed out again by the pool.
        if (TIMED_OUT.test(String(error))) broken = error as Error;
        else {
          await client.query("ROLLBACK").catch((failure: Error) => {
            broken = failure;
          });
        }
        throw error;
      } finally {
        client.release(broken);
      }
    });
  }

  async get(key: string): Promise<JsonValue | undefined> {
    return this.#values.get(key);
  }

  async set(key: string, value: JsonValue, options?: { ifVersion?: number | undefined }): Promise<number> {
    return this.#values.set(key, value, options);
  }

  async delete(key: string): Promise<boolean> {
    return this.#values.delete(key);
  }

  keys(prefix?: string): AsyncIterable<string> {
    return this.#values.keys(prefix);
  }

  /** The name under which others see that this storage is in use. */
  get owner(): string {
    return this.#presence.id;
  }

  /** Whether the storage of that name is connected, on whatever machine. */
  async isAlive(owner: string): Promise<boolean | undefined> {
    const lock = lockQuery(owner);
    return lock && (await this.query(lock.sql, lock.args)).length > 0;
  }

  async close(): Promise<void> {
    this.#closing ??= this.#sockets.close(Promise.all([this.#presence.end(), this.#pool.end()]));
    await this.#closing;
  }

  async #run<T>(operation: string, work: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw closedError("postgres", operation, "Open a new PostgresStorage.");
    try {
      return await work();
    } catch (error) {
      throw postgresError(error, operation);
    }
  }
}

const INT8 = 20;

/** Numbers of 64 bits as numbers, where the driver would give text: ours stay far below what a double cannot hold. */
function getTypeParser(oid: number, format?: "text" | "binary") {
  return oid === INT8 ? Number : pg.types.getTypeParser(oid, format as "text");
}

/** What the driver says where no answer came in time. */
const TIMED_OUT = /Query read timeout|timeout exceeded when trying to connect|timeout expired/;

/** Conflicts, a server that starts or stops, and lost connections may go through later. */
const RETRYABLE = /^(40001|40P01|53300|57P0[123]|08\d{3}|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT)$/;

function postgresError(error: unknown, operation: string): AgenticError {
  if (AgenticError.is(error)) return error;
  const code = String((error as { code?: unknown }).code ?? "");
  const { message } = storeError(error, "postgres", operation);
  const lost = /Connection terminated/.test(message) || TIMED_OUT.test(message);
  return new AgenticError(
    "store",
    error instanceof AggregateError ? `${message}${error.errors.map(String).join("; ")}` : message,
    { store: "postgres", operation },
    { cause: error, retryable: lost || RETRYABLE.test(code) },
  );
}
