import { AgenticError, type SessionId, type SessionRecord } from "@shedkit/types";
import type { BlobStore } from "../contract.js";
import { pause } from "../pause.js";
import { titleOf } from "../record-text.js";
import { busyError } from "../store-error.js";
import type { Database, Statement } from "./database.js";
import { listsOf, type Row, rowsOf } from "./rows.js";
import { plainText } from "./terms.js";

/** A lease as its holder sees it. The store is the session's only writer, so it knows how long the log is. */
export interface Held {
  readonly fence: number;
  records: number;
  /** Ends when the appends so far have. */
  tail: Promise<unknown>;
}

/** How often an append is tried that a passing failure kept out: a lost connection, a server that starts again. */
const ATTEMPTS = 4;
const FIRST_RETRY_MS = 100;

/** Where the records of a store lie. */
export interface LogPlace {
  readonly database: Database;
  readonly blobs: BlobStore | undefined;
  /** Records of more characters lie in `blobs`. */
  readonly inlineLength: number;
}

/** What the database says of an append. */
interface Outcome {
  fence: number;
  records: number;
  body: string | null;
  blob: string | null;
}

/** Appends records, whole or not at all; returns how many there are now. */
export async function appendTo(
  place: LogPlace,
  session: SessionId,
  held: Held,
  records: readonly SessionRecord[],
  bodies: readonly string[],
): Promise<number> {
  if (records.length === 0) return held.records;
  const { database, blobs, inlineLength } = place;
  const rows = await rowsOf(records, bodies, blobs, inlineLength);
  const statements = statementsOf(database, session, held, records, rows);
  const before = held.records;
  const end = before + records.length;
  const last = rows.at(-1);
  for (let attempt = 1; ; ) {
    try {
      await database.batch(statements);
      held.records = end;
      return end;
    } catch (error) {
      const passes = AgenticError.is(error) && error.retryable;
      const again = async () => pause(FIRST_RETRY_MS * 4 ** (attempt++ - 1), session, undefined);
      // Was it refused, undone, or done with its answer lost on the way?
      let now = await outcome(database, session, end);
      while (now === undefined && passes && attempt < ATTEMPTS) {
        await again();
        now = await outcome(database, session, end);
      }
      if (now === undefined) throw error; // the records may be there, and need the blobs that they name
      if (now.fence === held.fence) {
        held.records = now.records;
        if (now.body === last?.body && now.blob === last.blob) return end;
        // The statements name the fence and the length of the log: they are done once, however often they are sent.
        if (passes && attempt < ATTEMPTS && now.records === before) {
          await again();
          continue;
        }
      }
      await drop(blobs, rows);
      throw now.fence === held.fence ? error : replaced(session);
    }
  }
}

/** An append under a lease that counts no more. */
export function replaced(session: SessionId): AgenticError {
  return busyError(session, "This lease was released or replaced; acquire the session again.");
}

function statementsOf(
  { dialect }: Database,
  session: SessionId,
  held: Held,
  records: readonly SessionRecord[],
  rows: readonly Row[],
): Statement[] {
  const statements = [sessionUpdate(session, held, records)];
  for (const list of listsOf(rows, held.records)) {
    statements.push({ sql: dialect.insert, args: [session, list] });
    if (dialect.index) statements.push({ sql: dialect.index, args: [dialect.token(session), list, session] });
  }
  return statements;
}

/** The session's row after an append. Under another fence `records` would be NULL, which undoes the whole batch. */
function sessionUpdate(session: SessionId, held: Held, records: readonly SessionRecord[]): Statement {
  const title = records.map(titleOf).find((found) => found !== undefined);
  const fork = records.findLast((record) => record.type === "forkedFrom");
  const text = (value: string | undefined): string | null => (value === undefined ? null : plainText(value));
  return {
    sql: `UPDATE shedkit_sessions SET records = CASE WHEN fence = ? AND records = ? THEN records + ? ELSE NULL END,
      title = COALESCE(title, ?), created_at = COALESCE(created_at, ?), updated_at = ?,
      parent_session = COALESCE(?, parent_session), parent_record = COALESCE(?, parent_record) WHERE id = ?`,
    args: [
      held.fence,
      held.records,
      records.length,
      text(title),
      Math.trunc(records[0]?.at ?? 0),
      Math.trunc(records.at(-1)?.at ?? 0),
      text(fork?.session),
      text(fork?.record),
      session,
    ],
  };
}

/** What became of an append; undefined where the database does not say. */
async function outcome(database: Database, session: SessionId, end: number): Promise<Outcome | undefined> {
  const sql = `SELECT s.fence, s.records, r.body, r.blob FROM shedkit_sessions s
    LEFT JOIN shedkit_records r ON r.session = s.id AND r.seq = ? WHERE s.id = ?`;
  const [row] = await database
    .query<{ fence: number; records: number; body: string | null; blob: string | null }>(sql, [end, session])
    .catch(() => []);
  return row && { ...row, fence: Number(row.fence), records: Number(row.records) };
}

/** Removes blobs that no record names. One that cannot be removed only takes room. */
async function drop(blobs: BlobStore | undefined, rows: readonly Row[]): Promise<void> {
  for (const { blob } of rows) if (blob !== null) await blobs?.delete(blob).catch(() => {});
}
