import { AgenticError, type SessionId } from "@shedkit/types";
import type { DocumentStore, KeyValueStore } from "../contract.js";
import type { StoreCase } from "./case.js";
import { all, holds, refuses, same } from "./check.js";
import { put, textOf, userRecord } from "./records.js";

const session = "s" as SessionId;
const FOREVER = 60_000;

/**
 * What a {@link DocumentStore} that outlives its process must do. A case gets a function that opens one and the same
 * place, empty at first, as a process of its own would: each store that it opens is independent of the others.
 */
export const reopeningDocumentCases: readonly StoreCase<() => Promise<DocumentStore>>[] = [
  {
    name: "a log is there after closing and opening",
    async run(open) {
      const before = await open();
      await put(before, session, [userRecord("one", 1000), userRecord("two", 2000)]);
      const info = (await before.sessions()).items;
      await before.close();
      const after = await open();
      same(
        (await all(after.read(session))).map(({ record }) => textOf(record)),
        ["one", "two"],
        "read",
      );
      same((await after.sessions()).items, info, "sessions");
      same(await put(after, session, [userRecord("three")]), 3, "append");
      await after.close();
    },
  },
  {
    name: "fences go on growing after closing and opening",
    async run(open) {
      const before = await open();
      const old = await before.acquire(session);
      await before.append(old, [userRecord("one")]);
      await before.close(); // gives the lease back
      const after = await open();
      const now = await after.acquire(session);
      holds(now.fence > old.fence, "the fence does not grow");
      await after.close();
    },
  },
  {
    name: "of two that have the place open, the second waits or is refused",
    async run(open) {
      const [first, second] = [await open(), await open()];
      const lease = await first.acquire(session);
      await first.append(lease, [userRecord("one")]);
      await refuses(second.acquire(session), "sessionBusy", "acquire while another holds it");
      await refuses(second.acquire(session, { waitMs: 30 }), "sessionBusy", "acquire that waits 30 ms");
      const leaving = new AbortController();
      const left = second.acquire(session, { waitMs: FOREVER, signal: leaving.signal });
      leaving.abort();
      await refuses(left, "cancelled", "aborted acquire");
      const waiting = second.acquire(session, { waitMs: FOREVER });
      await lease.release();
      await first.close();
      const next = await waiting;
      same(await second.append(next, [userRecord("two")]), 2, "append of the second");
      await next.release();
      await second.close();
    },
  },
  {
    name: "who may take over waits for no holder, and that one writes no more",
    async run(open) {
      const [cutOff, next] = [await open(), await open()];
      const old = await cutOff.acquire(session);
      await cutOff.append(old, [userRecord("one")]);
      const lease = await next.acquire(session, { takeOver: true }).catch((error: unknown) => {
        if (!AgenticError.is(error, "sessionBusy")) throw error;
        return undefined; // a store that leaves it out
      });
      if (lease) {
        holds(lease.fence > old.fence, "the fence does not grow");
        same(await next.append(lease, [userRecord("two")]), 2, "append of who took over");
        await refuses(cutOff.append(old, [userRecord("late")]), "sessionBusy", "append of who was cut off");
        same((await all(next.read(session))).length, 2, "records");
        await old.release(); // of no use any more, and no harm
        same(await next.append(lease, [userRecord("three")]), 3, "append after that");
      }
      await cutOff.close();
      await next.close();
    },
  },
  {
    name: "two that take turns never mix their appends",
    async run(open) {
      const write = async (name: string): Promise<void> => {
        for (let i = 0; i < 4; i++) {
          const store = await open();
          const lease = await store.acquire(session, { waitMs: FOREVER });
          for (let part = 0; part < 3; part++) {
            await store.append(lease, [userRecord(`${name}${i}.${part}`), userRecord(`${name}${i}.${part}+`)]);
          }
          await lease.release();
          await store.close();
        }
      };
      await Promise.all([write("a"), write("b")]);
      const store = await open();
      const read = await all(store.read(session));
      same(
        read.map(({ seq }) => seq),
        Array.from({ length: 48 }, (_, i) => i + 1),
        "sequence",
      );
      const texts = read.map(({ record }) => textOf(record) ?? "");
      for (let i = 0; i < texts.length; i += 6) {
        const name = texts[i]?.slice(0, 2) ?? "";
        const wanted = [0, 1, 2].flatMap((part) => [`${name}.${part}`, `${name}.${part}+`]);
        same(texts.slice(i, i + 6), wanted, `the six records from ${i}`);
      }
      await store.close();
    },
  },
];

/** What a {@link KeyValueStore} that outlives its process must do; see {@link reopeningDocumentCases}. */
export const reopeningKeyValueCases: readonly StoreCase<() => Promise<KeyValueStore>>[] = [
  {
    name: "values and versions are there after closing and opening",
    async run(open) {
      const before = await open();
      await before.set("gone", 1);
      const old = await before.set("k", { a: [1] });
      await before.delete("gone");
      await before.close();
      const after = await open();
      same(await after.get("k"), { a: [1] }, "value");
      same(await all(after.keys()), ["k"], "keys");
      const now = await after.set("k", 2, { ifVersion: old });
      holds(now > old, "the version does not grow");
      await refuses(after.set("k", 3, { ifVersion: old }), "store", "set with an old version");
      await after.close();
    },
  },
];
