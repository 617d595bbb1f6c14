import type { SessionId } from "@shedkit/types";
import type { DocumentStore, StoredRecord } from "../contract.js";
import type { StoreCase } from "./case.js";
import { all, holds, refuses, same } from "./check.js";
import { leaseCases } from "./leases.js";
import { oddCases } from "./odd.js";
import { bodyRecord, put, textOf, userRecord } from "./records.js";

const seqs = (records: readonly StoredRecord[]): number[] => records.map((stored) => stored.seq);
const id = (name: string): SessionId => name as SessionId;

/** What every {@link DocumentStore} must do. Each case opens a new, empty store. */
export const documentStoreCases: readonly StoreCase<DocumentStore>[] = [
  ...leaseCases,
  {
    name: "a session that was never written to is empty",
    async run(store) {
      same(await all(store.read(id("none"))), [], "read");
      same((await store.sessions()).items, [], "sessions");
      same(await store.delete(id("none")), false, "delete");
    },
  },
  {
    name: "records come back in order, equal to what was appended, numbered from 1",
    async run(store) {
      const records = [userRecord("one"), userRecord("\u{1f600} \u0000 \r\n \"quoted\" 'single'"), userRecord("")];
      same(await put(store, id("s"), records.slice(0, 2)), 2, "first append");
      same(await put(store, id("s"), records.slice(2)), 3, "second append");
      same(
        await all(store.read(id("s"))),
        records.map((record, i) => ({ seq: i + 1, record })),
        "read",
      );
    },
  },
  {
    name: "an append of nothing changes nothing",
    async run(store) {
      same(await put(store, id("s"), []), 0, "append to an empty log");
      await put(store, id("s"), [userRecord("one")]);
      same(await put(store, id("s"), []), 1, "append to a log of one");
      same((await all(store.read(id("s")))).length, 1, "records");
    },
  },
  {
    name: "ranges leave out their ends, and `last` takes the newest of what is left",
    async run(store) {
      await put(
        store,
        id("s"),
        Array.from({ length: 10 }, (_, i) => userRecord(`${i}`)),
      );
      const read = async (range: Parameters<DocumentStore["read"]>[1]): Promise<number[]> =>
        seqs(await all(store.read(id("s"), range)));
      same(await read({ after: 8 }), [9, 10], "after");
      same(await read({ before: 3 }), [1, 2], "before");
      same(await read({ after: 2, before: 5 }), [3, 4], "after and before");
      same(await read({ last: 2 }), [9, 10], "last");
      same(await read({ last: 2, before: 5 }), [3, 4], "last and before");
      same(await read({ last: 5, after: 8 }), [9, 10], "last and after");
      same(await read({ last: 0 }), [], "last 0");
      same(await read({ last: 99 }), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "more than there are");
      same(await read({ after: 10 }), [], "after the end");
      same(await read({ before: 1 }), [], "before the beginning");
    },
  },
  {
    name: "appends that are not awaited keep their order",
    async run(store) {
      const lease = await store.acquire(id("s"));
      const texts = Array.from({ length: 20 }, (_, i) => `${i}`);
      await Promise.all(texts.map((text) => store.append(lease, [userRecord(text)])));
      await lease.release();
      const read = await all(store.read(id("s")));
      same(
        read.map(({ record }) => textOf(record)),
        texts,
        "order",
      );
    },
  },
  {
    name: "sessions do not see each other",
    async run(store) {
      await put(store, id("a"), [userRecord("of a")]);
      await put(store, id("a/b"), [userRecord("of a/b"), userRecord("more")]);
      same(seqs(await all(store.read(id("a")))), [1], "a");
      same(seqs(await all(store.read(id("a/b")))), [1, 2], "a/b");
    },
  },
  {
    name: "a reader may leave early, and may read while the log grows",
    async run(store) {
      await put(store, id("s"), [userRecord("1"), userRecord("2"), userRecord("3")]);
      for await (const { seq } of store.read(id("s"))) {
        if (seq === 2) break;
        await put(store, id("s"), [userRecord("meanwhile")]);
      }
      const whole = seqs(await all(store.read(id("s"))));
      same(whole, [1, 2, 3, 4], "after leaving early");
    },
  },
  {
    name: "a large record survives",
    async run(store) {
      const text = "0123456789abcdef".repeat(1 << 16);
      await put(store, id("s"), [userRecord(text)]);
      const [first] = await all(store.read(id("s")));
      holds(first !== undefined && textOf(first.record) === text, "1 MiB of text came back changed");
    },
  },
  {
    name: "sessions are listed newest first, a page at a time",
    async run(store) {
      for (let i = 1; i <= 5; i++) await put(store, id(`s${i}`), [userRecord(`question ${i}`, i * 1000)]);
      await put(store, id("s2"), [userRecord("again", 9000)]);
      const pages: string[][] = [];
      let cursor: string | undefined;
      do {
        const page = await store.sessions({ limit: 2, cursor });
        pages.push(page.items.map((item) => item.id));
        cursor = page.cursor;
      } while (cursor !== undefined);
      same(pages, [["s2", "s5"], ["s4", "s3"], ["s1"]], "pages");
    },
  },
  {
    name: "a listed session says what it is",
    async run(store) {
      await put(store, id("child"), [
        bodyRecord({ type: "forkedFrom", session: "parent", record: "r" }, 1000),
        userRecord("First line\nsecond line", 2000),
      ]);
      same(
        (await store.sessions()).items,
        [
          {
            id: "child",
            title: "First line",
            createdAt: 1000,
            updatedAt: 2000,
            records: 2,
            parent: { session: "parent", record: "r" },
          },
        ],
        "sessions",
      );
    },
  },
  {
    name: "a listing can be narrowed to the sessions whose messages hold a text",
    async run(store) {
      await put(store, id("a"), [userRecord("hello", 1), userRecord("where is the Harbour?", 2)]);
      await put(store, id("b"), [userRecord("100%_sure", 3)]);
      const found = async (text: string): Promise<string[]> =>
        (await store.sessions({ text })).items.map((item) => item.id);
      same(await found("harbour"), ["a"], "whatever the case");
      same(await found("100%_"), ["b"], "no character means anything but itself");
      same(await found("1_0"), [], "no character stands for another");
    },
  },
  {
    name: "a deleted session is gone, and its old lease writes no more",
    async run(store) {
      const lease = await store.acquire(id("s"));
      await store.append(lease, [userRecord("one")]);
      same(await store.delete(id("s")), true, "delete");
      same(await all(store.read(id("s"))), [], "read");
      same(await store.delete(id("s")), false, "delete again");
      await refuses(store.append(lease, [userRecord("two")]), "sessionBusy", "append with the old lease");
      same(await put(store, id("s"), [userRecord("anew")]), 1, "a new session of that name begins at 1");
    },
  },
  {
    name: "search, where there is one, finds records by their words, best first",
    async run(store) {
      if (store.search === undefined) return;
      await put(store, id("s"), [
        userRecord("the red house"),
        userRecord("a red apple tree"),
        userRecord("nothing here"),
      ]);
      const hits = await store.search(id("s"), "apple red", 10);
      same(hits[0]?.seq, 2, "best hit");
      holds(!hits.some((hit) => hit.seq === 3), "a record without any of the words was found");
      same((await store.search(id("s"), "red", 1)).length, 1, "limit");
      same(await store.search(id("s"), "zebra", 10), [], "no hit");
    },
  },
  ...oddCases,
  {
    name: "a closed store refuses",
    async run(store) {
      await store.close();
      await refuses(store.acquire(id("s")), "store", "acquire");
      await refuses(all(store.read(id("s"))), "store", "read");
      await store.close();
    },
  },
];
