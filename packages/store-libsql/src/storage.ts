import type { InArgs } from "@libsql/client";
import type { KeyValueStore, QueryStore } from "@shedkit/store";
import { closedError, SqlKeyValues } from "@shedkit/store/backend";
import type { JsonValue } from "@shedkit/types";
import { type Connection, connect, libsqlError } from "./connection.js";

/**
 * A libsql (SQLite) database as key-value and query store: one object backs a `SqlDocumentStore` and a `KvMemoryStore`.
 * Failures are AgenticError `store`. `close()` when done; stores on top of it do not.
 */
export class LibsqlStorage implements KeyValueStore, QueryStore {
  readonly dialect = "sqlite";
  /** Servers over HTTP have them too, where they are libsql's own. */
  readonly vectors = true;
  readonly owner?: string;
  readonly #connection: Connection;
  readonly #values: SqlKeyValues;
  #closed = false;

  private constructor(connection: Connection) {
    this.#connection = connection;
    this.#values = new SqlKeyValues(this, "libsql");
    if (connection.owner !== undefined) this.owner = connection.owner.id;
  }

  /**
   * Opens `file:PATH` (made if it is not there; its folder must be), `:memory:` (gone on close), or a server at
   * `libsql:`, `http(s):` or `ws(s):`, and brings its tables up to date. `timeoutMs` (default 60,000) is for how long a
   * server over HTTP is waited for at each request.
   */
  static async open(
    url: string,
    options: { authToken?: string | undefined; timeoutMs?: number | undefined } = {},
  ): Promise<LibsqlStorage> {
    const storage = await failing("open", async () => new LibsqlStorage(await connect(url, options)));
    try {
      await storage.initSchema();
    } catch (error) {
      await storage.close();
      throw error;
    }
    return storage;
  }

  /** Makes the table of keys and values, or brings it up to date. `open` has done it. */
  initSchema(): Promise<void> {
    return this.#values.initSchema();
  }

  async query<R extends { [column: string]: unknown }>(sql: string, args: readonly unknown[] = []): Promise<R[]> {
    this.#check("query");
    return failing("query", async () => {
      const { columns, rows } = await this.#connection.client.execute({ sql, args: args as InArgs });
      return rows.map((row) => {
        const plain: { [column: string]: unknown } = {}; // theirs is an array as well
        for (const [i, column] of columns.entries()) plain[column] = row[i];
        return plain as R;
      });
    });
  }

  async batch(statements: readonly { sql: string; args?: readonly unknown[] | undefined }[]): Promise<void> {
    this.#check("batch");
    if (statements.length === 0) return;
    await failing("batch", () =>
      this.#connection.client.batch(
        statements.map(({ sql, args = [] }) => ({ sql, args: args as InArgs })),
        "write",
      ),
    );
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

  /** Whether the process that holds a lease in this file still works; unknown for a remote database. */
  async isAlive(owner: string): Promise<boolean | undefined> {
    return this.#connection.owner?.isAlive(owner);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#connection.owner?.close();
    this.#connection.client.close();
  }

  #check(operation: string): void {
    if (this.#closed) throw closedError("libsql", operation, "Open a new LibsqlStorage.");
  }
}

async function failing<T>(operation: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw libsqlError(error, operation);
  }
}
