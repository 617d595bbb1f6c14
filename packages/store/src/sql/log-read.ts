import type { SessionId, SessionRecord } from "@shedkit/types";
import type { StoredRecord } from "../contract.js";
import { rangeOf } from "../range.js";
import { storeError } from "../store-error.js";
import type { Database } from "./database.js";
import type { LogPlace } from "./log-append.js";
import { recordOf } from "./rows.js";

/** How much of a log is read at once, in characters, and how many records at most. */
const PAGE_LENGTH = 4_000_000;
const PAGE_RECORDS = 2000;

/** The records in a range of a log, a page at a time; `run` reads a page. */
export async function* readLog(
  { database, blobs }: LogPlace,
  session: SessionId,
  range: { after?: number | undefined; before?: number | undefined; last?: number | undefined },
  run: <T>(work: () => Promise<T>) => Promise<T>,
): AsyncGenerator<StoredRecord, void, void> {
  // The end is taken now: a reader sees the log as it was when it began.
  const { after, end } = rangeOf(await run(() => lengthOf(database, session)), range, "sql");
  const sql = `SELECT seq, body, blob FROM shedkit_records WHERE session = ? AND seq > ? AND seq <= ?
    ORDER BY seq LIMIT ?`;
  const blobRecord = async (row: { seq: unknown; blob: string | null }): Promise<SessionRecord> => {
    try {
      return await recordOf(row, blobs);
    } catch (error) {
      throw storeError(error, "sql", "read");
    }
  };
  let at = after;
  for (let limit = 100; at < end; ) {
    const page = await run(() =>
      database.query<{ seq: number; body: string | null; blob: string | null }>(sql, [session, at, end, limit]),
    );
    if (page.length === 0) return; // deleted meanwhile
    let size = 0;
    for (const row of page) {
      size += row.body?.length ?? 0;
      at = Number(row.seq);
      // Most records wait for nothing: a promise for each would be half the cost of reading a log.
      const record = row.body === null ? await blobRecord(row) : (JSON.parse(row.body) as SessionRecord);
      yield { seq: at, record };
    }
    limit = Math.max(1, Math.min(PAGE_RECORDS, limit * 10, Math.floor((PAGE_LENGTH * page.length) / (size + 1))));
  }
}

/** How many records a log has. */
export async function lengthOf(database: Database, session: SessionId): Promise<number> {
  const sql = "SELECT records FROM shedkit_sessions WHERE id = ?";
  return Number((await database.query<{ records: number }>(sql, [session]))[0]?.records ?? 0);
}

/** The blobs that the records of a log lie in. */
export async function blobsOf(database: Database, session: SessionId): Promise<string[]> {
  const sql = "SELECT blob FROM shedkit_records WHERE session = ? AND blob IS NOT NULL";
  return (await database.query<{ blob: string }>(sql, [session])).map((row) => row.blob);
}
