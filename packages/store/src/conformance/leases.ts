import type { SessionId } from "@shedkit/types";
import type { DocumentStore } from "../contract.js";
import type { StoreCase } from "./case.js";
import { all, holds, refuses, same } from "./check.js";
import { userRecord } from "./records.js";

const session = "s" as SessionId;
const FOREVER = 60_000;

/** One writer a session. */
export const leaseCases: readonly StoreCase<DocumentStore>[] = [
  {
    name: "a second writer is refused at once, another session is free",
    async run(store) {
      const lease = await store.acquire(session);
      await refuses(store.acquire(session), "sessionBusy", "second acquire");
      await (await store.acquire("other" as SessionId)).release();
      await lease.release();
      await (await store.acquire(session)).release();
    },
  },
  {
    name: "who waits gets the lease when it is released, in turn, with a higher fence",
    async run(store) {
      const order: string[] = [];
      const first = await store.acquire(session);
      const next = async (name: string): Promise<number> => {
        const lease = await store.acquire(session, { waitMs: FOREVER });
        order.push(name);
        await lease.release();
        return lease.fence;
      };
      const waiting = [next("second"), next("third")];
      same(order, [], "granted while held");
      await first.release();
      const [second = 0, third = 0] = await Promise.all(waiting);
      same([...order].sort(), ["second", "third"], "granted");
      holds(second > first.fence && third > first.fence && second !== third, "fences do not grow");
    },
  },
  {
    name: "waiting ends after waitMs",
    async run(store) {
      const lease = await store.acquire(session);
      await refuses(store.acquire(session, { waitMs: 10 }), "sessionBusy", "acquire that waits 10 ms");
      await lease.release();
      await (await store.acquire(session)).release();
    },
  },
  {
    name: "waiting can be aborted, and who left is skipped",
    async run(store) {
      const lease = await store.acquire(session);
      const leaving = new AbortController();
      const left = store.acquire(session, { waitMs: FOREVER, signal: leaving.signal });
      const staying = store.acquire(session, { waitMs: FOREVER });
      leaving.abort();
      await refuses(left, "cancelled", "aborted acquire");
      await lease.release();
      await (await staying).release();
      await refuses(store.acquire(session, { signal: AbortSignal.abort() }), "cancelled", "acquire already aborted");
    },
  },
  {
    name: "a released lease writes no more, and cannot free its successor",
    async run(store) {
      const old = await store.acquire(session);
      await store.append(old, [userRecord("one")]);
      await old.release();
      await refuses(store.append(old, [userRecord("late")]), "sessionBusy", "append after release");
      const now = await store.acquire(session);
      holds(now.fence > old.fence, "the fence does not grow");
      await old.release();
      await refuses(store.acquire(session), "sessionBusy", "acquire after the old lease was released twice");
      await refuses(store.append(old, [userRecord("late")]), "sessionBusy", "append with an old fence");
      same(await store.append(now, [userRecord("two")]), 2, "append of the successor");
      await now.release();
      same((await all(store.read(session))).length, 2, "records");
    },
  },
];
