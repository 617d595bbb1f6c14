import type { SessionId } from "@shedkit/types";
import type { VectorStore } from "../contract.js";
import type { Database } from "./database.js";
import { migrate } from "./migrate.js";

/** Runs an operation once the tables of the logs are there. */
type Run = <T>(operation: string, session: string, work: () => Promise<T>) => Promise<T>;

const MIGRATIONS = [
  [
    `CREATE TABLE shedkit_vectors (n INTEGER NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL,
      PRIMARY KEY (n, model)) WITHOUT ROWID`,
    // Whoever deletes a session need not know of vectors, and its rows are numbered anew.
    `CREATE TRIGGER shedkit_vectors_gone AFTER DELETE ON shedkit_records
      BEGIN DELETE FROM shedkit_vectors WHERE n = old.n; END`,
  ],
];

/** Vectors of records in a SQLite database with libSQL's vector functions. The table is made when first needed. */
export class SqlVectors implements VectorStore {
  readonly #database: Database;
  readonly #run: Run;
  #schema: Promise<void> | undefined;

  constructor(database: Database, run: Run) {
    this.#database = database;
    this.#run = (operation, session, work) =>
      run(operation, session, async () => {
        this.#schema ??= migrate(database.storage, "vectors", MIGRATIONS).catch((error: unknown) => {
          this.#schema = undefined; // the next operation tries again
          throw error;
        });
        await this.#schema;
        return work();
      });
  }

  put(session: SessionId, model: string, vectors: readonly { seq: number; vector: Float32Array }[]): Promise<void> {
    const sql = `INSERT INTO shedkit_vectors (n, model, vector)
      SELECT n, ?, ? FROM shedkit_records WHERE session = ? AND seq = ?
      ON CONFLICT (n, model) DO UPDATE SET vector = excluded.vector`;
    const statements = vectors.map(({ seq, vector }) => ({ sql, args: [model, bytesOf(vector), session, seq] }));
    return this.#run("vectors.put", session, () => this.#database.batch(statements));
  }

  async last(session: SessionId, model: string): Promise<number> {
    const sql = `SELECT r.seq AS seq FROM shedkit_records r CROSS JOIN shedkit_vectors v ON v.n = r.n AND v.model = ?
      WHERE r.session = ? ORDER BY r.seq DESC LIMIT 1`;
    const rows = await this.#run("vectors.last", session, () =>
      this.#database.query<{ seq: number }>(sql, [model, session]),
    );
    return Number(rows[0]?.seq ?? 0);
  }

  async nearest(
    session: SessionId,
    model: string,
    vector: Float32Array,
    limit: number,
  ): Promise<{ seq: number; score: number }[]> {
    // A vector of another length is of an older version of the model: it compares with none of these.
    const sql = `SELECT r.seq AS seq, 1 - vector_distance_cos(v.vector, ?) AS score
      FROM shedkit_records r CROSS JOIN shedkit_vectors v ON v.n = r.n AND v.model = ?
      WHERE r.session = ? AND length(v.vector) = ? ORDER BY score DESC, r.seq DESC LIMIT ?`;
    const bytes = bytesOf(vector);
    const rows = await this.#run("vectors.nearest", session, () =>
      this.#database.query<{ seq: number; score: number | null }>(sql, [bytes, model, session, bytes.length, limit]),
    );
    return rows.map(({ seq, score }) => ({ seq: Number(seq), score: Number(score ?? 0) }));
  }
}

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}
