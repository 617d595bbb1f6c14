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
  const sql = database.dialect.read;
  const blobRecord = async (seq: number, blob: string): Promise<SessionRecord> => {
    try {
      return await recordOf(seq, blob, blobs);
    } catch (error) {
      throw storeError(error, "sql", "read");
    }
  };
  let at = after;
  for (let limit = 100; at < end; ) {
    const before = at;
    const page = await run(() => database.query<{ records: string }>(sql, [session, at, end, limit]));
    if (page.length === 0) return; // deleted meanwhile
    let size = 0;
    for (const { records } of page) {
      size += records.length;
      for (const record of JSON.parse(`[${records}]`) as (SessionRecord | string)[]) {
        at++;
        // Most records wait for nothing: a promise for each would be half the cost of reading a log.
        yield { seq: at, record: typeof record === "string" ? await blobRecord(at, record) : record };
      }
    }
    limit = Math.max(1, Math.min(PAGE_RECORDS, limit * 10, Math.floor((PAGE_LENGTH * (at - before)) / (size + 1))));
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
