import type { SessionId, SessionRecord } from "@shedkit/types";
import type { DocumentStore } from "../contract.js";
import type { StoreCase } from "./case.js";
import { all, refuses, same } from "./check.js";
import { bodyRecord, put, textOf, userRecord } from "./records.js";

const id = (name: string): SessionId => name as SessionId;

/** Odd names, odd values, and many at once. */
export const oddCases: readonly StoreCase<DocumentStore>[] = [
  {
    name: "odd session ids are sessions of their own",
    async run(store) {
      const odd = [
        "a",
        "A",
        "a b",
        "..",
        "../a",
        "a/b",
        "a%2fb",
        "C:\\x",
        "\u00e9",
        "e\u0301",
        "\u{1f600}\u4eac",
        "s'\"; --",
      ];
      const names = [...odd, "x".repeat(300), `${"x".repeat(300)}y`];
      for (const name of names) await put(store, id(name), [userRecord(name)]);
      for (const name of names) {
        same(
          (await all(store.read(id(name)))).map(({ record }) => textOf(record)),
          [name],
          `log of "${name}"`,
        );
      }
      same((await store.sessions()).items.map((info) => info.id).sort(), [...names].sort(), "sessions");
    },
  },
  {
    name: "a session id that not every storage can hold is refused",
    async run(store) {
      for (const name of ["a\u0000b", "\ud800"]) {
        await refuses(store.acquire(id(name)), "store", `acquire of ${JSON.stringify(name)}`);
      }
    },
  },
  {
    name: "odd values come back as they were",
    async run(store) {
      const value = JSON.parse('{"__proto__":{"a":1},"":[[[{}]]],"\\u2028":1e308,"small":5e-324,"half":"\\ud83d"}');
      const records: SessionRecord[] = [
        userRecord("half a pair: \ud800, a NUL: \u0000, a separator: \u2028"),
        bodyRecord({ type: "toolState", key: "k\u0000", version: 1, value }, 1),
        bodyRecord({ type: "modelSwitched", from: "", to: "\\u0000\\", reason: "\n" }, 1),
      ];
      await put(store, id("s"), records);
      same(
        (await all(store.read(id("s")))).map(({ record }) => record),
        records,
        "records",
      );
    },
  },
  {
    name: "a record that is no JSON is refused, and the log goes on",
    async run(store) {
      if ("kind" in store && store.kind === "memory") return; // it says that it keeps what it is given
      const lease = await store.acquire(id("s"));
      const circle: { self?: unknown } = {};
      circle.self = circle;
      for (const fact of [10n, circle]) {
        const record = bodyRecord({ type: "workingMemory", version: 1, facts: [fact as never] }, 1);
        await refuses(store.append(lease, [userRecord("with it"), record]), "store", `append of a ${typeof fact}`);
      }
      same(await store.append(lease, [userRecord("one")]), 1, "the next append");
      await lease.release();
      same((await all(store.read(id("s")))).length, 1, "records");
    },
  },
  {
    name: "numbers that cannot be meant are refused, others count as whole ones",
    async run(store) {
      await put(store, id("s"), [userRecord("1"), userRecord("2"), userRecord("3")]);
      const read = async (range: Parameters<DocumentStore["read"]>[1]): Promise<number[]> =>
        (await all(store.read(id("s"), range))).map(({ seq }) => seq);
      for (const range of [{ after: Number.NaN }, { before: Number.NaN }, { last: Number.NaN }]) {
        await refuses(read(range), "store", `read of ${Object.keys(range)} NaN`);
      }
      await refuses(store.sessions({ limit: Number.NaN }), "store", "sessions, NaN of them");
      same(await read({ after: 1.5 }), [2, 3], "after 1.5");
      same(await read({ before: 2.5 }), [1, 2], "before 2.5");
      same(await read({ after: -5, before: Number.POSITIVE_INFINITY }), [1, 2, 3], "all and more");
      same(await read({ last: -1 }), [], "last -1");
      same((await store.sessions({ limit: 1.5 })).items.length, 1, "1.5 sessions");
      same((await store.sessions({ limit: -1 })).items.length, 0, "-1 sessions");
      same((await store.sessions({ limit: Number.POSITIVE_INFINITY })).items.length, 1, "any number of sessions");
    },
  },
  {
    name: "an append of many records is whole, and a reader gets all of a long log",
    async run(store) {
      const texts = Array.from({ length: 3000 }, (_, i) => `${i}`);
      same(
        await put(
          store,
          id("s"),
          texts.map((text) => userRecord(text)),
        ),
        3000,
        "append",
      );
      await put(store, id("s"), [userRecord("last")]);
      same(
        (await all(store.read(id("s")))).map(({ record }) => textOf(record)),
        [...texts, "last"],
        "read",
      );
      same(
        (await all(store.read(id("s"), { last: 1 }))).map(({ seq }) => seq),
        [3001],
        "last",
      );
    },
  },
  {
    name: "many sessions are written at once",
    async run(store) {
      const names = Array.from({ length: 20 }, (_, i) => `s${i}`);
      const write = async (name: string): Promise<void> => {
        const lease = await store.acquire(id(name));
        for (let i = 0; i < 5; i++) await store.append(lease, [userRecord(`${name} ${i}`)]);
        await lease.release();
      };
      await Promise.all(names.map(write));
      for (const name of names) {
        same(
          (await all(store.read(id(name)))).map(({ record }) => textOf(record)),
          [0, 1, 2, 3, 4].map((i) => `${name} ${i}`),
          `log of ${name}`,
        );
      }
    },
  },
  {
    name: "a record changed after the call to append is stored as it was",
    async run(store) {
      if ("kind" in store && store.kind === "memory") return; // it says that it keeps what it is given
      const lease = await store.acquire(id("s"));
      const facts = ["one"];
      const done = store.append(lease, [bodyRecord({ type: "workingMemory", version: 1, facts }, 1)]);
      facts.push("two");
      await done;
      await lease.release();
      const [stored] = await all(store.read(id("s")));
      same(stored?.record.type === "workingMemory" && stored.record.facts, ["one"], "facts");
    },
  },
  {
    name: "search, where there is one, knows no language and no syntax",
    async run(store) {
      if (store.search === undefined) return;
      await put(store, id("other"), [userRecord("the harbour of another session")]);
      await put(store, id("s"), [
        userRecord("Die Gr\u00f6\u00dfe der T\u00fcr"),
        userRecord("\u6211\u5728\u5317\u4eac\u5927\u5b66\u8bfb\u4e66"),
        userRecord("\u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440"),
        userRecord("plain NOT words"),
      ]);
      const found = async (query: string): Promise<number[]> =>
        ((await store.search?.(id("s"), query, 10)) ?? []).map((hit) => hit.seq);
      same(await found("GR\u00d6\u00dfE"), [1], "whatever the case");
      same(await found("\u5317\u4eac"), [2], "a word inside a text without spaces");
      same(await found("\u043c\u0438\u0440"), [3], "another script");
      same(await found("word"), [4], "the beginning of a longer word");
      same(await found("harbour"), [], "another session's words");
      for (const odd of [
        '"',
        "NOT",
        "a AND",
        "x*",
        "-",
        "(",
        "terms:a",
        "'",
        "\u0000",
        "\ud800",
        "",
        "a\\b & !c | <->",
      ]) {
        await found(odd);
      }
      await store.delete(id("s"));
      same(await found("plain"), [], "a deleted session");
    },
  },
];
