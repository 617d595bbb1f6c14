import { AgenticError, type SessionId, type SessionRecord } from "@shedkit/types";
import type { SessionInfo } from "./contract.js";
import { compareKeys } from "./keys.js";
import { pageLimit } from "./range.js";
import { titleOf } from "./record-text.js";

/** What a listing says of a session after `records` were appended to it. `info` is not changed. */
export function infoAfter(
  info: SessionInfo | undefined,
  session: SessionId,
  records: readonly SessionRecord[],
): SessionInfo {
  const first = records[0]?.at ?? 0;
  const now: SessionInfo = { ...(info ?? { id: session, createdAt: first, updatedAt: first, records: 0 }) };
  extendInfo(now, records);
  return now;
}

/** Makes it say so of `records`, which were appended. */
export function extendInfo(info: SessionInfo, records: readonly SessionRecord[]): void {
  for (const record of records) {
    if (record.type === "forkedFrom") info.parent = { session: record.session as SessionId, record: record.record };
    info.title ??= titleOf(record);
    info.updatedAt = record.at;
  }
  info.records += records.length;
}

/** Where a page of a listing ended. */
export interface SessionCursor {
  updatedAt: number;
  id: string;
}

/** The order of a listing. */
export function newestFirst(a: SessionCursor, b: SessionCursor): number {
  return b.updatedAt - a.updatedAt || compareKeys(b.id, a.id);
}

/** The place after `info`, as text. */
export function writeCursor(info: SessionCursor): string {
  return `${info.updatedAt}:${info.id}`;
}

/** Throws AgenticError `store` for a text that is no cursor. */
export function readCursor(cursor: string, store: string): SessionCursor {
  const colon = cursor.indexOf(":");
  const updatedAt = Number(cursor.slice(0, colon));
  if (colon < 1 || !Number.isFinite(updatedAt)) {
    throw new AgenticError("store", `"${cursor}" is not a cursor. Take the one that sessions() returned.`, {
      store,
      operation: "sessions",
    });
  }
  return { updatedAt, id: cursor.slice(colon + 1) };
}

/** One page of sessions that all are at hand. `mentions` is asked only of those that may be on the page. */
export async function pageOf(
  infos: readonly SessionInfo[],
  query: { text?: string | undefined; limit?: number | undefined; cursor?: string | undefined },
  mentions: (session: SessionId, text: string) => boolean | Promise<boolean>,
  store: string,
): Promise<{ items: SessionInfo[]; cursor?: string | undefined }> {
  const limit = pageLimit(query.limit, store);
  const after = query.cursor === undefined ? undefined : readCursor(query.cursor, store);
  const found: SessionInfo[] = [];
  for (const info of [...infos].sort(newestFirst)) {
    if (after !== undefined && newestFirst(info, after) <= 0) continue;
    if (query.text !== undefined && !(await mentions(info.id, query.text))) continue;
    found.push(info);
    if (found.length > limit) break;
  }
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return found.length > limit && last !== undefined ? { items, cursor: writeCursor(last) } : { items };
}
