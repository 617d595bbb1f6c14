import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { SessionId } from "@shedkit/types";
import { expect, it } from "vitest";
import { SqlKeyValues } from "../src/backend.js";
import { SqlDocumentStore } from "../src/index.js";
import { NodeSqlite } from "./support/node-sqlite.js";

const fixture = fileURLToPath(new URL("fixtures/sqlite-v1.sql", import.meta.url));

it("what version 1 wrote into SQLite is read, found, listed and written on", async () => {
  const storage = new NodeSqlite();
  for (const sql of (await readFile(fixture, "utf8")).split(/;\n/)) if (sql.trim() !== "") await storage.query(sql);
  const store = new SqlDocumentStore(storage);
  const session = "s" as SessionId;
  const types: string[] = [];
  for await (const { record } of store.read(session)) types.push(record.type);
  expect(types).toEqual(["forkedFrom", "conversation"]);
  expect((await store.search(session, "harbour", 10)).map((hit) => hit.seq)).toEqual([2]);
  expect((await store.sessions({ text: "Harbour" })).items).toEqual([
    {
      ...{ id: "s", title: "Where is the harbour?", createdAt: 1000, updatedAt: 2000, records: 2 },
      parent: { session: "parent", record: "r0" },
    },
  ]);
  const lease = await store.acquire(session);
  expect(lease.fence).toBe(5);
  expect(await store.append(lease, [{ id: "r4", v: 1, at: 3000, type: "dequeued", messageId: "m" }])).toBe(3);

  const values = new SqlKeyValues(storage, "node-sqlite");
  await values.initSchema();
  expect(await values.get("memory:working:s")).toMatchObject({ facts: ["a"] });
  expect(await values.set("memory:working:s", 1, { ifVersion: 7 })).toBeGreaterThan(7);
});
