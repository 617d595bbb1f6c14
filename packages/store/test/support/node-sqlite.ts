import { DatabaseSync } from "node:sqlite";
import { AgenticError } from "@shedkit/types";
import type { QueryStore } from "../../src/index.js";

/** A storage for tests: SQLite as Node has it. It cannot tell whether others still run. */
export class NodeSqlite implements QueryStore {
  readonly dialect = "sqlite";
  readonly #db: DatabaseSync;
  batches = 0;
  /** Called after a batch was done, before its answer. */
  afterBatch: (() => void) | undefined;

  constructor(path = ":memory:") {
    this.#db = new DatabaseSync(path, { timeout: 5000 });
    if (path !== ":memory:") this.#db.exec("PRAGMA journal_mode = WAL");
  }

  async query<R extends { [column: string]: unknown }>(sql: string, args: readonly unknown[] = []): Promise<R[]> {
    return failing("query", () => {
      const rows = this.#db.prepare(sql).all(...(args as (string | number | null)[]));
      return rows.map((row) => ({ ...row }) as R);
    });
  }

  async batch(statements: readonly { sql: string; args?: readonly unknown[] | undefined }[]): Promise<void> {
    failing("batch", () => {
      this.batches++;
      this.#db.exec("BEGIN IMMEDIATE");
      try {
        for (const { sql, args = [] } of statements) {
          this.#db.prepare(sql).all(...(args as (string | number | null)[]));
        }
        this.#db.exec("COMMIT");
      } catch (error) {
        this.#db.exec("ROLLBACK");
        throw error;
      }
      this.afterBatch?.();
    });
  }

  async close(): Promise<void> {
    if (this.#db.isOpen) this.#db.close();
  }
}

function failing<T>(operation: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new AgenticError("store", String(error), { store: "node-sqlite", operation }, { cause: error });
  }
}
