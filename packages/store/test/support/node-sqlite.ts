import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { AgenticError } from "@shedkit/types";
import type { QueryStore } from "../../src/index.js";

/** A storage for tests: SQLite as Node has it. It cannot tell whether others still run. */
export class NodeSqlite implements QueryStore {
  readonly dialect = "sqlite";
  readonly vectors = true;
  readonly #db: DatabaseSync;
  batches = 0;
  /** Called before a batch. */
  beforeBatch: (() => void) | undefined;
  /** Called after a batch was done, before its answer. */
  afterBatch: (() => void) | undefined;

  constructor(path = ":memory:") {
    this.#db = new DatabaseSync(path, { timeout: 5000 });
    if (path !== ":memory:") this.#db.exec("PRAGMA journal_mode = WAL");
    this.#db.function("vector_distance_cos", (a, b) => cosineDistance(a as Uint8Array, b as Uint8Array));
  }

  async query<R extends { [column: string]: unknown }>(sql: string, args: readonly unknown[] = []): Promise<R[]> {
    return failing("query", () => {
      const rows = this.#db.prepare(sql).all(...(args as SQLInputValue[]));
      return rows.map((row) => ({ ...row }) as R);
    });
  }

  async batch(statements: readonly { sql: string; args?: readonly unknown[] | undefined }[]): Promise<void> {
    failing("batch", () => {
      this.batches++;
      this.beforeBatch?.();
      this.#db.exec("BEGIN IMMEDIATE");
      try {
        for (const { sql, args = [] } of statements) {
          this.#db.prepare(sql).all(...(args as SQLInputValue[]));
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
    if (AgenticError.is(error)) throw error;
    throw new AgenticError("store", String(error), { store: "node-sqlite", operation }, { cause: error });
  }
}

/** As libSQL has it, over blobs of 32-bit floats. */
function cosineDistance(a: Uint8Array, b: Uint8Array): number {
  const [x, y] = [a, b].map((bytes) => new Float32Array(bytes.slice().buffer)) as [Float32Array, Float32Array];
  const dot = (left: Float32Array, right: Float32Array) => left.reduce((sum, v, i) => sum + v * (right[i] ?? 0), 0);
  return 1 - dot(x, y) / Math.sqrt(dot(x, x) * dot(y, y));
}
