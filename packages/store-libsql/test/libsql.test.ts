import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { KvMemoryStore, SqlDocumentStore } from "@shedkit/store";
import { Messages, newId, type SessionId, type SessionRecord } from "@shedkit/types";
import { expect, it } from "vitest";
import { LibsqlStorage } from "../src/index.js";
import { hranaServer } from "./support/hrana-server.js";
import { tempFolder } from "./support/temp-folder.js";

const session = "s" as SessionId;
const record = (text: string): SessionRecord => ({
  id: newId(),
  v: 1,
  at: 1,
  type: "conversation",
  message: Messages.user(text),
});

it("one storage backs the log and the memory", async () => {
  const db = await LibsqlStorage.open(":memory:");
  const [documents, memory] = [new SqlDocumentStore(db), new KvMemoryStore(db)];
  await documents.append(await documents.acquire(session), [record("one")]);
  await memory.write(session, "working", { id: "r", v: 1, at: 1, type: "workingMemory", version: 1, facts: ["a"] });
  await documents.close();
  expect((await memory.read(session)).working?.facts).toEqual(["a"]);
  await db.close();
});

it("every :memory: is a database of its own", async () => {
  const [one, two] = [await LibsqlStorage.open(":memory:"), await LibsqlStorage.open(":memory:")];
  await one.set("k", 1);
  expect(await two.get("k")).toBeUndefined();
  await Promise.all([one.close(), two.close()]);
});

it("commits to a write-ahead log, flushed to the disk", async () => {
  const db = await LibsqlStorage.open(`file:${join(await tempFolder(), "a.db")}`);
  expect(await db.query("PRAGMA journal_mode")).toEqual([{ journal_mode: "wal" }]);
  expect(await db.query("PRAGMA synchronous")).toEqual([{ synchronous: 2 }]);
  await db.close();
});

it("has vectors", async () => {
  const db = await LibsqlStorage.open(":memory:");
  await db.batch([
    { sql: "CREATE TABLE v (name TEXT, at F32_BLOB(3))" },
    { sql: "INSERT INTO v VALUES ('near', vector32('[1,0,0]')), ('far', vector32('[0,1,0]'))" },
  ]);
  const sql = "SELECT name FROM v ORDER BY vector_distance_cos(at, vector32(?))";
  expect(await db.query(sql, ["[0.9,0.1,0]"])).toEqual([{ name: "near" }, { name: "far" }]);
  await db.close();
});

it("frees the sessions of a storage that was closed without giving them back", async () => {
  const url = `file:${join(await tempFolder(), "a.db")}`;
  const first = await LibsqlStorage.open(url);
  await new SqlDocumentStore(first).acquire(session);
  await first.close();
  const second = await LibsqlStorage.open(url);
  await (await new SqlDocumentStore(second).acquire(session)).release();
  await second.close();
});

it("says what is wrong with an address, a folder, a file and a token", async () => {
  const folder = await tempFolder();
  await writeFile(join(folder, "text.db"), "this is no database, but a text that is long enough".repeat(50));
  await expect(LibsqlStorage.open("agent.db")).rejects.toThrow(/"agent.db" is no database URL. Wanted.*file:agent.db/);
  await expect(LibsqlStorage.open(`file:${folder}/none/a.db`)).rejects.toThrow(/libsql: open failed: .*open/i);
  await expect(LibsqlStorage.open(`file:${folder}/text.db`)).rejects.toThrow(/libsql: .*not a database/);
  const { url } = await hranaServer("secret");
  await expect(LibsqlStorage.open(url, { authToken: "wrong" })).rejects.toThrow(/401|Unauthorized/);
  await (await LibsqlStorage.open(url, { authToken: "secret" })).close();
});

it("says of a server that cannot be reached that it may be tried again", async () => {
  const { url, server } = await hranaServer();
  const db = await LibsqlStorage.open(url);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await expect(db.get("k")).rejects.toMatchObject({ code: "store", retryable: true });
  await db.close();
});

it("gives up a server that does not answer, and says what one answered that will not change its mind", async () => {
  const { url, server } = await hranaServer();
  const db = await LibsqlStorage.open(url, { timeoutMs: 5000 });
  server.removeAllListeners("request");
  server.on("request", (request) => request.resume()); // and nothing else
  await expect(db.get("k")).rejects.toMatchObject({ code: "store", retryable: true });
  for (const [status, retryable] of [
    [401, false],
    [429, true],
    [503, true],
  ] as const) {
    server.removeAllListeners("request");
    server.on("request", (_, response) => response.writeHead(status).end());
    await expect(db.get("k")).rejects.toMatchObject({ code: "store", status, retryable });
  }
  await db.close();
});

it("opens what an older release made, and refuses what a newer one made", async () => {
  const url = `file:${join(await tempFolder(), "a.db")}`;
  const db = await LibsqlStorage.open(url);
  await db.initSchema();
  await db.query("UPDATE shedkit_schema SET version = 9 WHERE component = 'keyValues'");
  await db.close();
  await expect(LibsqlStorage.open(url)).rejects.toThrow(/keyValues are of version 9.*Update/);
});
