import type { SessionId } from "@shedkit/types";
import { pause } from "../pause.js";
import { busyError } from "../store-error.js";
import type { Database } from "./database.js";
import type { LeaseOwner } from "./owner.js";

/** What a session's row says to who has just taken it. */
export interface Taken {
  fence: number;
  records: number;
}

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/**
 * Takes a session for `owner`, as soon as no living owner holds it; with `takeOver` at once. `until` is on the clock of
 * `performance.now()`.
 */
export async function takeSession(
  database: Database,
  owner: LeaseOwner,
  session: SessionId,
  { until, signal, takeOver }: { until: number; signal: AbortSignal | undefined; takeOver: boolean },
): Promise<Taken> {
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
    const taken = await tryTake(database, owner, session, takeOver);
    if (taken !== undefined) return { fence: Number(taken.fence), records: Number(taken.records) };
    const left = until - performance.now();
    if (left <= 0) {
      throw busyError(session, "Another process is writing to it; end that one first, or wait longer (waitMs).");
    }
    await pause(Math.min(ms, left), session, signal);
  }
}

/** The row changes hands by its fence: of two who try, one finds it changed. */
async function tryTake(
  database: Database,
  owner: LeaseOwner,
  session: SessionId,
  takeOver: boolean,
): Promise<Taken | undefined> {
  const query = (sql: string, args: readonly unknown[]) =>
    database.query<{ fence: number; owner: string | null; records: number }>(sql, args);
  const [row] = await query("SELECT fence, owner, records FROM shedkit_sessions WHERE id = ?", [session]);
  if (row === undefined) {
    const [made] = await query(
      `INSERT INTO shedkit_sessions (id, fence, owner, records) VALUES (?, 1, ?, 0)
        ON CONFLICT (id) DO NOTHING RETURNING fence, owner, records`,
      [session, owner.id],
    );
    return made;
  }
  const foreign = row.owner !== null && row.owner !== owner.id ? row.owner : undefined;
  if (foreign !== undefined && !takeOver && (await owner.isAlive(foreign))) return undefined;
  const [taken] = await query(
    "UPDATE shedkit_sessions SET fence = fence + 1, owner = ? WHERE id = ? AND fence = ? RETURNING fence, owner, records",
    [owner.id, session, row.fence],
  );
  return taken;
}
