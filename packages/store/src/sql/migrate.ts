import { AgenticError } from "@shedkit/types";
import type { QueryStore } from "../contract.js";
import { Database } from "./database.js";

/**
 * Brings the tables of `component` to the newest of `steps`; the version of a database is the number of steps it has
 * seen. Safe to run twice, and by two processes at once. Throws AgenticError `store` when a newer release made the tables.
 */
export async function migrate(
  storage: QueryStore,
  component: string,
  steps: readonly (readonly string[])[],
): Promise<void> {
  const database = new Database(storage);
  const version = await versionOf(database, component);
  if (version > steps.length) {
    throw new AgenticError(
      "store",
      `The tables of ${component} are of version ${version}; this release knows up to ${steps.length}. Update @shedkit.`,
      { store: component, operation: "initSchema" },
    );
  }
  for (let at = version; at < steps.length; at++) {
    const lock = storage.dialect === "postgres" ? [{ sql: "SELECT pg_advisory_xact_lock(7236481)" }] : [];
    const make = [
      ...lock,
      { sql: "CREATE TABLE IF NOT EXISTS shedkit_schema (component TEXT PRIMARY KEY, version INTEGER NOT NULL)" },
      {
        sql: "INSERT INTO shedkit_schema (component, version) VALUES (?, 0) ON CONFLICT (component) DO NOTHING",
        args: [component],
      },
      // A step that someone else took meanwhile sets NULL, which the column refuses: the whole batch is undone.
      {
        sql: `UPDATE shedkit_schema SET version = CASE WHEN version = ${at} THEN ${at + 1} ELSE NULL END WHERE component = ?`,
        args: [component],
      },
    ];
    try {
      await database.batch([...make, ...(steps[at] ?? []).map((statement) => ({ sql: statement }))]);
    } catch (error) {
      if ((await versionOf(database, component)) <= at) throw error;
    }
  }
}

async function versionOf(database: Database, component: string): Promise<number> {
  const tables =
    database.storage.dialect === "postgres"
      ? "SELECT 1 AS found FROM information_schema.tables WHERE table_name = 'shedkit_schema' AND table_schema = current_schema()"
      : "SELECT 1 AS found FROM sqlite_master WHERE name = 'shedkit_schema'";
  if ((await database.query(tables)).length === 0) return 0;
  const sql = "SELECT version FROM shedkit_schema WHERE component = ?";
  const [row] = await database.query<{ version: number }>(sql, [component]);
  return Number(row?.version ?? 0);
}
