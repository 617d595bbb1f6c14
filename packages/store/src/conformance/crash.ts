import type { SessionId } from "@shedkit/types";
import type { DocumentStore } from "../contract.js";
import { all, holds, same } from "./check.js";
import { textOf, userRecord } from "./records.js";

const PARTS = 3;

/**
 * What a process does that a test kills: it takes the session, says `"ready"`, and appends three records at a time.
 * `say` gets the number of each append when it is done: the last one heard is the least that must be there afterwards.
 */
export async function writeUntilKilled(
  store: DocumentStore,
  session: SessionId,
  say: (line: string) => void,
): Promise<never> {
  const lease = await store.acquire(session, { waitMs: 10_000 });
  say("ready");
  for (let n = 1; ; n++) {
    const parts = Array.from({ length: PARTS }, (_, part) =>
      userRecord(`${n}.${part} ${"x".repeat((n * 997) % 5000)}`),
    );
    await store.append(lease, parts);
    say(`${n}`);
  }
}

/**
 * Takes the session over from a killed {@link writeUntilKilled} that said `heard` last, within `waitMs`, and throws
 * unless every append that was heard of is there, whole and in order, and the log can be written on.
 */
export async function checkAfterKill(
  store: DocumentStore,
  session: SessionId,
  heard: number,
  waitMs: number,
): Promise<void> {
  const lease = await store.acquire(session, { waitMs });
  const read = await all(store.read(session));
  holds(read.length >= heard * PARTS, `${heard} appends of ${PARTS} were done, but ${read.length} records are there`);
  same(read.length % PARTS, 0, "records of an append that is there in part");
  for (const [i, { seq, record }] of read.entries()) {
    same(seq, i + 1, "sequence");
    same(textOf(record)?.split(" ")[0], `${Math.floor(i / PARTS) + 1}.${i % PARTS}`, `record ${seq}`);
  }
  same(await store.append(lease, [userRecord("after")]), read.length + 1, "append after the kill");
  same((await store.sessions()).items[0]?.records, read.length + 1, "records in the listing");
  await lease.release();
}
