import type { JsonValue } from "@shedkit/types";
import type { KeyValueStore, QueryStore } from "../contract.js";
import { jsonText } from "../json-text.js";
import { checkKey } from "../keys.js";
import { versionError } from "../store-error.js";
import { Database } from "./database.js";
import { migrate } from "./migrate.js";

const PAGE = 500;

/**
 * Keys and values in the table `kv_store` of a SQL database: what a storage delegates to, so as to be a
 * {@link KeyValueStore} itself. Versions come from one counter for all keys: that of a deleted key never comes back.
 */
export class SqlKeyValues implements Omit<KeyValueStore, "close"> {
  readonly #database: Database;
  readonly #name: string;

  /** `name` is the storage's, for errors. */
  constructor(storage: QueryStore, name: string) {
    this.#database = new Database(storage);
    this.#name = name;
  }

  /** Makes the table. Safe to call twice. */
  async initSchema(): Promise<void> {
    const { storage } = this.#database;
    await migrate(storage, "keyValues", [storage.dialect === "postgres" ? POSTGRES : SQLITE]);
  }

  async get(key: string): Promise<JsonValue | undefined> {
    checkKey(key, this.#name, "get");
    const [row] = await this.#database.query<{ value: string }>("SELECT value FROM kv_store WHERE key = ?", [key]);
    return row === undefined ? undefined : (JSON.parse(row.value) as JsonValue);
  }

  async set(key: string, value: JsonValue, options: { ifVersion?: number | undefined } = {}): Promise<number> {
    checkKey(key, this.#name, "set");
    const { ifVersion } = options;
    const statement = setStatement(this.#database, key, jsonText(value, this.#name, "set"), ifVersion);
    const [row] = await this.#database.query<{ version: number }>(statement.sql, statement.args);
    if (row !== undefined) return Number(row.version);
    const [now] = await this.#database.query<{ version: number }>("SELECT version FROM kv_store WHERE key = ?", [key]);
    throw versionError(this.#name, key, ifVersion ?? 0, Number(now?.version ?? 0));
  }

  async delete(key: string): Promise<boolean> {
    checkKey(key, this.#name, "delete");
    return (await this.#database.query("DELETE FROM kv_store WHERE key = ? RETURNING key", [key])).length > 0;
  }

  async *keys(prefix = ""): AsyncGenerator<string, void, void> {
    checkKey(prefix, this.#name, "keys");
    // Keys that begin alike lie together: no pattern is needed, and so none can go wrong.
    let [from, comparison] = [prefix, ">="];
    for (;;) {
      const sql = `SELECT key FROM kv_store WHERE key ${comparison} ? ORDER BY key LIMIT ${PAGE}`;
      const page = await this.#database.query<{ key: string }>(sql, [from]);
      for (const { key } of page) {
        if (!key.startsWith(prefix)) return;
        yield key;
      }
      if (page.length < PAGE) return;
      [from, comparison] = [page.at(-1)?.key ?? "", ">"];
    }
  }
}

const SQLITE = [
  // AUTOINCREMENT never gives a number twice, and REPLACE takes a new one.
  `CREATE TABLE kv_store (version INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL)`,
];
const POSTGRES = [
  "CREATE SEQUENCE kv_store_version",
  `CREATE TABLE kv_store (key TEXT COLLATE "C" PRIMARY KEY, value TEXT NOT NULL,
    version BIGINT NOT NULL DEFAULT nextval('kv_store_version'), created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)`,
];

/** A statement that returns the new version, or nothing where `ifVersion` is not the version now. */
function setStatement(
  { storage, dialect }: Database,
  key: string,
  json: string,
  ifVersion: number | undefined,
): { sql: string; args: readonly unknown[] } {
  const { now } = dialect;
  if (ifVersion === 0) {
    return {
      sql: `INSERT INTO kv_store (key, value, created_at, updated_at) VALUES (?, ?, ${now}, ${now})
        ON CONFLICT (key) DO NOTHING RETURNING version`,
      args: [key, json],
    };
  }
  if (storage.dialect === "postgres") {
    const change = `value = ?, version = nextval('kv_store_version'), updated_at = ${now}`;
    if (ifVersion !== undefined) {
      return {
        sql: `UPDATE kv_store SET ${change} WHERE key = ? AND version = ? RETURNING version`,
        args: [json, key, ifVersion],
      };
    }
    return {
      sql: `INSERT INTO kv_store (key, value, created_at, updated_at) VALUES (?, ?, ${now}, ${now})
        ON CONFLICT (key) DO UPDATE SET ${change} RETURNING version`,
      args: [key, json, json],
    };
  }
  const replace = "INSERT OR REPLACE INTO kv_store (key, value, created_at, updated_at)";
  if (ifVersion !== undefined) {
    return {
      sql: `${replace} SELECT key, ?, created_at, ${now} FROM kv_store WHERE key = ? AND version = ? RETURNING version`,
      args: [json, key, ifVersion],
    };
  }
  return {
    sql: `${replace} VALUES (?, ?, COALESCE((SELECT created_at FROM kv_store WHERE key = ?), ${now}), ${now})
      RETURNING version`,
    args: [key, json, key],
  };
}
