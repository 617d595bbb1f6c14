import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgenticError, newId, type SessionId, type SessionRecord } from "@shedkit/types";
import { ClassicLevel } from "classic-level";
import { expect, it } from "vitest";
import { LevelDocumentStore, LevelStorage } from "../src/index.js";
import { tempFolder } from "./support/temp-folder.js";

const session = "s" as SessionId;
const record = (): SessionRecord => ({ id: newId(), v: 1, at: 1, type: "dequeued", messageId: "m" });

it.skipIf(!existsSync("/proc/self"))("says so at once where there can be no folder", async () => {
  await expect(LevelStorage.open("/proc/shedkit/store")).rejects.toMatchObject({ code: "store" });
});

it("is open once: a second storage says so, and works when the first is closed", async () => {
  const folder = await tempFolder();
  const first = await LevelStorage.open(folder);
  await first.set("k", 1);
  const second = await LevelStorage.open(folder);
  await expect(second.get("k")).rejects.toMatchObject({ code: "store", retryable: true });
  await expect(second.get("k")).rejects.toThrow(/open in another process/);
  await first.close();
  expect(await second.get("k")).toBe(1);
  await second.close();
});

it("two document stores over one storage share their leases", async () => {
  const storage = await LevelStorage.open(await tempFolder());
  const [one, two] = [new LevelDocumentStore(storage), new LevelDocumentStore(storage)];
  const lease = await one.acquire(session);
  await expect(two.acquire(session)).rejects.toSatisfy((error) => AgenticError.is(error, "sessionBusy"));
  await expect(two.append(lease, [record()])).rejects.toSatisfy((error) => AgenticError.is(error, "sessionBusy"));
  await two.delete(session);
  await expect(one.append(lease, [record()])).rejects.toSatisfy((error) => AgenticError.is(error, "sessionBusy"));
  await one.acquire(session);
  await one.close();
  await (await two.acquire(session)).release();
  await storage.close();
});

it("refuses who waits when the storage is closed", async () => {
  const storage = await LevelStorage.open(await tempFolder());
  const store = new LevelDocumentStore(storage);
  await store.acquire(session);
  const waiting = store.acquire(session, { waitMs: 60_000 });
  waiting.catch(() => {});
  await storage.close();
  await expect(waiting).rejects.toSatisfy((error) => AgenticError.is(error, "store"));
});

it("refuses a newer format by name", async () => {
  const folder = await tempFolder();
  const db = new ClassicLevel(folder);
  await db.put("format", "9");
  await db.close();
  await expect(LevelStorage.open(folder)).rejects.toThrow(/has format 9; this release reads 1. Update/);
});

it("says that a database is damaged, and how to mend it", async () => {
  const folder = await tempFolder();
  const storage = await LevelStorage.open(folder);
  await storage.set("k", 1);
  await storage.close();
  await writeFile(join(folder, "CURRENT"), "?");
  await expect(LevelStorage.open(folder)).rejects.toThrow(/is damaged.*repair/);
});

it("says why a folder cannot be opened", async () => {
  const folder = await tempFolder();
  await mkdir(join(folder, "a"));
  await writeFile(join(folder, "a", "file"), "");
  await expect(LevelStorage.open(join(folder, "a", "file"))).rejects.toThrow(/level: open failed: /);
});

it("what format 1 wrote is read, listed and written on", async () => {
  const folder = await tempFolder();
  const db = new ClassicLevel(folder);
  const body = '{"id":"a","v":1,"at":5,"type":"dequeued","messageId":"m"}';
  await db.batch([
    { type: "put", key: "format", value: "1" },
    { type: "put", key: "version", value: "7" },
    { type: "put", key: "k\u0000key", value: '[7,{"a":1}]' },
    { type: "put", key: "f\u0000s", value: "4" },
    { type: "put", key: "i\u0000s", value: '{"id":"s","createdAt":5,"updatedAt":5,"records":1}' },
    { type: "put", key: "r\u0000s\u0000000000000001", value: body },
  ]);
  await db.close();
  const storage = await LevelStorage.open(folder);
  const store = new LevelDocumentStore(storage);
  const lease = await store.acquire(session);
  expect(lease.fence).toBe(5);
  expect(await store.append(lease, [JSON.parse(body)])).toBe(2);
  const read: unknown[] = [];
  for await (const stored of store.read(session)) read.push(stored);
  expect(read).toEqual([1, 2].map((seq) => ({ seq, record: JSON.parse(body) })));
  expect(await storage.get("key")).toEqual({ a: 1 });
  expect(await storage.set("key", 2, { ifVersion: 7 })).toBe(8);
  await storage.close();
});
