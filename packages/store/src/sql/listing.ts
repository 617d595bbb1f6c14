import type { SessionId } from "@shedkit/types";
import type { SessionInfo } from "../contract.js";
import { readCursor, writeCursor } from "../listing.js";
import { pageLimit } from "../range.js";
import type { Database } from "./database.js";
import { foldText } from "./terms.js";

interface SessionRow {
  [column: string]: unknown;
  id: string;
  title: string | null;
  created_at: number;
  updated_at: number;
  records: number;
  parent_session: string | null;
  parent_record: string | null;
}

/** One page of sessions, newest first. */
export async function listSessions(
  database: Database,
  query: { text?: string | undefined; limit?: number | undefined; cursor?: string | undefined },
): Promise<{ items: SessionInfo[]; cursor?: string | undefined }> {
  const { text, cursor } = query;
  const limit = pageLimit(query.limit, "sql");
  const conditions = ["s.records > 0"];
  const args: unknown[] = [];
  if (cursor !== undefined) {
    const { updatedAt, id } = readCursor(cursor, "sql");
    conditions.push("(s.updated_at < ? OR (s.updated_at = ? AND s.id < ?))");
    args.push(updatedAt, updatedAt, id);
  }
  if (text !== undefined && text !== "") {
    conditions.push(database.dialect.mentions);
    args.push(foldText(text));
  }
  const sql = `SELECT s.id, s.title, s.created_at, s.updated_at, s.records, s.parent_session, s.parent_record
    FROM shedkit_sessions s WHERE ${conditions.join(" AND ")} ORDER BY s.updated_at DESC, s.id DESC LIMIT ?`;
  const rows = await database.query<SessionRow>(sql, [...args, limit + 1]);
  const items = rows.slice(0, limit).map(infoOf);
  const last = items.at(-1);
  return rows.length > limit && last !== undefined ? { items, cursor: writeCursor(last) } : { items };
}

function infoOf(row: SessionRow): SessionInfo {
  const info: SessionInfo = {
    id: row.id as SessionId,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    records: Number(row.records),
  };
  if (row.title !== null) info.title = row.title;
  if (row.parent_session !== null && row.parent_record !== null) {
    info.parent = { session: row.parent_session as SessionId, record: row.parent_record };
  }
  return info;
}
