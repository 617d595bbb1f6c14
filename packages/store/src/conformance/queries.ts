import type { QueryStore } from "../contract.js";
import type { StoreCase } from "./case.js";
import { refuses, same } from "./check.js";

/** What every {@link QueryStore} must do. Each case opens a new, empty database. */
export const queryStoreCases: readonly StoreCase<QueryStore>[] = [
  {
    name: "rows are objects by column, and statements that change rows return what they are asked to",
    async run(store) {
      const p = placeholders(store);
      await store.query("CREATE TABLE t (k TEXT PRIMARY KEY, n INTEGER, b TEXT)");
      const insert = `INSERT INTO t (k, n, b) VALUES (${p(3)}) RETURNING k, n, b`;
      same(await store.query(insert, ["a", 7, null]), [{ k: "a", n: 7, b: null }], "insert returning");
      same(await store.query("SELECT n AS other FROM t"), [{ other: 7 }], "select");
      same(await store.query("SELECT n FROM t WHERE n > 100"), [], "no rows");
      const text = "\u{1f600} ' \" \\ \n";
      same(await store.query(insert, ["b", -1, text]), [{ k: "b", n: -1, b: text }], "odd text");
    },
  },
  {
    name: "a batch is done whole or not at all",
    async run(store) {
      const p = placeholders(store);
      await store.batch([
        { sql: "CREATE TABLE t (k TEXT PRIMARY KEY, n INTEGER NOT NULL)" },
        { sql: `INSERT INTO t (k, n) VALUES (${p(2)})`, args: ["a", 1] },
      ]);
      const broken = store.batch([
        { sql: `INSERT INTO t (k, n) VALUES (${p(2)})`, args: ["b", 2] },
        { sql: "UPDATE t SET n = NULL WHERE k = 'a'" },
      ]);
      await refuses(broken, "store", "a batch whose second statement fails");
      same(await store.query("SELECT k, n FROM t"), [{ k: "a", n: 1 }], "rows");
      await store.batch([]);
    },
  },
  {
    name: "batches at once are each whole",
    async run(store) {
      await store.batch([{ sql: "CREATE TABLE t (n INTEGER NOT NULL)" }, { sql: "INSERT INTO t (n) VALUES (0)" }]);
      const add = { sql: "UPDATE t SET n = n + 1" };
      await Promise.all(Array.from({ length: 10 }, () => store.batch([add, add])));
      same(await store.query("SELECT n FROM t"), [{ n: 20 }], "sum");
    },
  },
  {
    name: "a statement that is wrong is refused with its reason, a closed store refuses",
    async run(store) {
      await refuses(store.query("SELEKT 1"), "store", "a wrong statement");
      await store.close();
      await refuses(store.query("SELECT 1 AS one"), "store", "query");
      await refuses(store.batch([{ sql: "SELECT 1" }]), "store", "batch");
      await store.close();
    },
  },
];

function placeholders(store: QueryStore): (count: number) => string {
  const one = (i: number): string => (store.dialect === "postgres" ? `$${i + 1}` : "?");
  return (count) => Array.from({ length: count }, (_, i) => one(i)).join(", ");
}
