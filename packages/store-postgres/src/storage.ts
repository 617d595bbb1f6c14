import type { KeyValueStore, QueryStore } from "@shedkit/store";
import { closedError, SqlKeyValues, storeError } from "@shedkit/store/backend";
import { AgenticError, type JsonValue } from "@shedkit/types";
import pg from "pg";
import { lockQuery, Presence } from "./presence.js";

/**
 * A PostgreSQL database as key-value and query store: one object backs a `SqlDocumentStore` and a `KvMemoryStore`.
 * Failures are AgenticError `store`. `close()` when done; stores on top of it do not.
 */
export class PostgresStorage implements KeyValueStore, QueryStore {
  readonly dialect = "postgres";
  readonly #pool: pg.Pool;
  readonly #presence: Presence;
  readonly #values: SqlKeyValues;
  #closing: Promise<void> | undefined;

  private constructor(connectionString: string) {
    this.#pool = new pg.Pool({ connectionString, keepAlive: true, types: { getTypeParser } });
    this.#pool.on("error", () => {}); // an idle connection broke: the pool opens another when needed
    // One that breaks between two statements of a batch: its next statement fails, and says so.
    this.#pool.on("connect", (client) => client.on("error", () => {}));
    this.#presence = new Presence(connectionString);
    this.#values = new SqlKeyValues(this, "postgres");
  }

  /**
   * Connects to `postgres://user:password@host:port/database` and brings the tables up to date. They lie in the first
   * schema of the search path, which `?options=-c search_path=NAME` sets.
   */
  static async open(connectionString: string): Promise<PostgresStorage> {
    const storage = new PostgresStorage(connectionString);
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
        await client.query("ROLLBACK").catch((failure: Error) => {
          broken = failure; // then the pool must not hand this connection out again
        });
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
    this.#closing ??= this.#presence.end().then(() => this.#pool.end());
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

/** Conflicts, a server that starts or stops, and lost connections may go through later. */
const RETRYABLE = /^(40001|40P01|53300|57P0[123]|08\d{3}|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT)$/;

function postgresError(error: unknown, operation: string): AgenticError {
  if (AgenticError.is(error)) return error;
  const code = String((error as { code?: unknown }).code ?? "");
  const { message } = storeError(error, "postgres", operation);
  const lost = /Connection terminated/.test(message);
  return new AgenticError(
    "store",
    error instanceof AggregateError ? `${message}${error.errors.map(String).join("; ")}` : message,
    { store: "postgres", operation },
    { cause: error, retryable: lost || RETRYABLE.test(code) },
  );
}
