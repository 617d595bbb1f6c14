import { existsSync } from "node:fs";
import { appendFile, mkdir, readdir, readFile, rename, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgenticError, Messages, newId, type SessionId, type SessionRecord } from "@shedkit/types";
import fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { JsonFileDocumentStore, JsonFileStorage, type Recovery } from "../src/index.js";
import { tempFolder } from "./support/temp-folder.js";

const session = "s" as SessionId;
const record = (text: string): SessionRecord => ({
  id: newId(),
  v: 1,
  at: 1,
  type: "conversation",
  message: Messages.user(text),
});

async function openStore(folder: string, onRecovered?: (recovery: Recovery) => void) {
  const storage = await JsonFileStorage.open(folder);
  onTestFinished(() => storage.close());
  return new JsonFileDocumentStore(storage, { onRecovered });
}

async function readAll(store: JsonFileDocumentStore, range?: Parameters<JsonFileDocumentStore["read"]>[1]) {
  const records: SessionRecord[] = [];
  for await (const stored of store.read(session, range)) records.push(stored.record);
  return records;
}

/** A log of two appends, the second of three records. */
async function logOfFour(folder: string): Promise<{ path: string; records: SessionRecord[] }> {
  const store = await openStore(folder);
  const records = ["one", "two é", "three", "four"].map(record);
  const lease = await store.acquire(session);
  await store.append(lease, records.slice(0, 1));
  await store.append(lease, records.slice(1));
  await store.close();
  return { path: join(folder, "sessions", "s", "log.jsonl"), records };
}

it.skipIf(!existsSync("/proc/self"))("says so at once where there can be no folder", async () => {
  await expect(JsonFileStorage.open("/proc/shedkit/store")).rejects.toMatchObject({ code: "store" });
});

it("recovers a log cut at any byte: appends are there whole or not at all, and what was torn is kept and reported", async () => {
  const { path, records } = await logOfFour(await tempFolder());
  const whole = await readFile(path);
  const firstEnd = whole.indexOf("\n", whole.indexOf("\n") + 1) + 1;
  const headerEnd = whole.indexOf("\n") + 1;
  const folder = await tempFolder();
  const copy = join(folder, "sessions", "s", "log.jsonl");
  await mkdir(join(folder, "sessions", "s"), { recursive: true });
  const reported: Recovery[] = [];
  const store = await openStore(folder, (recovery) => reported.push(recovery));
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: whole.length }), async (length) => {
      await writeFile(copy, whole.subarray(0, length));
      const kept = length === whole.length ? 4 : length >= firstEnd ? 1 : 0;
      const size = kept === 4 ? whole.length : kept === 1 ? firstEnd : length >= headerEnd ? headerEnd : 0;
      expect(await readAll(store)).toEqual(records.slice(0, kept));
      reported.length = 0;
      const lease = await store.acquire(session);
      expect(reported.map((recovery) => recovery.bytes)).toEqual(length === size ? [] : [length - size]);
      if (reported[0]) expect(await readFile(reported[0].file)).toEqual(whole.subarray(size, length));
      expect(await store.append(lease, [record("after")])).toBe(kept + 1);
      await lease.release();
      expect(await readAll(store)).toHaveLength(kept + 1);
    }),
    { numRuns: 40 },
  );
});

it("does not read an append that another process is just writing", async () => {
  const folder = await tempFolder();
  const { path } = await logOfFour(folder);
  await appendFile(
    path,
    '{"seq":5,"of":[5,6],"record":{"id":"x","v":1,"at":1,"type":"dequeued","messageId":"m"}}\n{"se',
  );
  const store = await openStore(folder);
  expect(await readAll(store)).toHaveLength(4);
  expect((await store.sessions()).items[0]?.records).toBe(4);
});

it("refuses a log that is damaged in the middle, and names the place", async () => {
  const folder = await tempFolder();
  const { path } = await logOfFour(folder);
  await writeFile(path, (await readFile(path, "utf8")).replace('"seq":2', '"seq"?2'));
  const store = await openStore(folder);
  await expect(readAll(store)).rejects.toThrow(/log\.jsonl is damaged: the line at byte \d+ is no record/);
});

it("refuses a newer format by name, and a file that is no log", async () => {
  const folder = await tempFolder();
  const { path } = await logOfFour(folder);
  const store = await openStore(folder);
  await writeFile(path, '{"shedkit":"log","v":9,"session":"s"}\n');
  await expect(store.acquire(session)).rejects.toThrow(/has format 9; this release reads 1. Update/);
  await writeFile(path, "something else\n");
  await expect(store.acquire(session)).rejects.toThrow(/is no log of a session/);
});

it("lists what it can read: a damaged log and files that are none hide no others", async () => {
  const folder = await tempFolder();
  const { path } = await logOfFour(folder);
  const store = await openStore(folder);
  for (const id of ["t", "u"]) {
    const lease = await store.acquire(id as SessionId);
    await store.append(lease, [record("one of them"), record("two"), record("three")]);
    await lease.release();
  }
  await writeFile(path, "something else\n");
  const damaged = join(folder, "sessions", "t", "log.jsonl");
  await writeFile(damaged, (await readFile(damaged, "utf8")).replace('"seq":2', '"seq"?2'));
  await writeFile(join(folder, "sessions", ".DS_Store"), "x");
  await mkdir(join(folder, "sessions", "empty"));
  expect((await store.sessions()).items.map(({ id }) => id).sort()).toEqual(["t", "u"]);
  expect((await store.sessions({ text: "two" })).items.map(({ id }) => id)).toEqual(["u"]);
  await store.storage.set("k", 1);
  for (const name of [".DS_Store", "%zz.json"]) await writeFile(join(folder, "values", name), "x");
  const keys: string[] = [];
  for await (const key of store.storage.keys()) keys.push(key);
  expect(keys).toEqual(["k"]);
});

it("clears away what a process left that was killed while it deleted a session", async () => {
  const folder = await tempFolder();
  await logOfFour(folder);
  await rename(join(folder, "sessions", "s"), join(folder, "deleted.01k"));
  await openStore(folder);
  expect(await readdir(folder)).not.toContain("deleted.01k");
});

it("finds a place in a long log without reading all of it, whatever the length of its lines", async () => {
  const store = await openStore(await tempFolder());
  const lease = await store.acquire(session);
  const texts = Array.from({ length: 400 }, (_, i) => `${i} ${"é".repeat((i * 7919) % 3000)}`);
  texts[200] = "x".repeat(300_000);
  await store.append(lease, texts.map(record));
  await fc.assert(
    fc.asyncProperty(fc.nat(405), fc.nat(405), async (after, before) => {
      const read = await readAll(store, { after, before });
      const wanted = texts.slice(after, Math.max(after, before - 1));
      expect(read.map((r) => r.type === "conversation" && r.message.type === "user" && r.message.content)).toEqual(
        wanted.map((text) => [{ type: "text", text }]),
      );
    }),
    { numRuns: 30 },
  );
});

it("writes lines that a released version wrote, and reads them", async () => {
  const folder = await tempFolder();
  await mkdir(join(folder, "sessions", "s"), { recursive: true });
  const line = '"record":{"id":"a","v":1,"at":5,"type":"dequeued","messageId":"m"}}\n';
  const text = `{"shedkit":"log","v":1,"session":"s"}\n{"seq":1,${line}{"seq":2,"of":[2,3],${line}{"seq":3,"of":[2,3],${line}`;
  const path = join(folder, "sessions", "s", "log.jsonl");
  await writeFile(path, text);
  const store = await openStore(folder);
  const records = await readAll(store);
  expect(records).toHaveLength(3);
  const again = await openStore(await tempFolder());
  const lease = await again.acquire(session);
  await again.append(lease, records.slice(0, 1));
  await again.append(lease, records.slice(1));
  expect(await readFile(join(again.storage.folder, "sessions", "s", "log.jsonl"), "utf8")).toBe(text);
});

it("reads a value that a released version wrote, and writes the same", async () => {
  const folder = await tempFolder();
  const storage = await JsonFileStorage.open(folder);
  const path = join(folder, "values", "a%2fb.json");
  await writeFile(path, '{"key":"a/b","version":1,"value":{"x":[1]}}\n');
  expect(await storage.get("a/b")).toEqual({ x: [1] });
  expect(await storage.set("a/b", "é", { ifVersion: 1 })).toBe(2);
  expect(await readFile(path, "utf8")).toBe('{"key":"a/b","version":2,"value":"é"}\n');
  await storage.close();
});

it("goes on after an append that failed half way", async () => {
  const folder = await tempFolder();
  const store = await openStore(folder);
  const lease = await store.acquire(session);
  await store.append(lease, [record("one")]);
  await appendFile(join(folder, "sessions", "s", "log.jsonl"), '{"seq":2,"reco');
  expect(await store.append(lease, [record("two")])).toBe(2);
  expect(await readAll(store)).toHaveLength(2);
});

it("a session deleted under its holder's hands takes no more of its appends", async () => {
  const folder = await tempFolder();
  const [holder, other] = [await openStore(folder), await openStore(folder)];
  const lease = await holder.acquire(session);
  await holder.append(lease, [record("one")]);
  expect(await other.delete(session)).toBe(true);
  const next = await other.acquire(session);
  await expect(holder.append(lease, [record("late")])).rejects.toSatisfy((e) => AgenticError.is(e, "sessionBusy"));
  expect(await other.append(next, [record("anew")])).toBe(1);
});

it("a holder on another machine counts until it was silent for half a minute", async () => {
  const folder = await tempFolder();
  const store = await openStore(folder);
  await (await store.acquire(session)).release();
  const sessionFolder = join(folder, "sessions", "s");
  await writeFile(join(sessionFolder, "lock.7"), "elsewhere:b:p:1:1/0/x");
  const owner = join(folder, "owners", "elsewhere%3ab%3ap%3a1%3a1%2f0%2fx");
  await writeFile(owner, "");
  await expect(store.acquire(session)).rejects.toSatisfy((error) => AgenticError.is(error, "sessionBusy"));
  const past = new Date((await stat(owner)).mtimeMs - 60_000);
  await utimes(owner, past, past);
  expect((await store.acquire(session)).fence).toBe(8);
  expect((await readdir(sessionFolder)).filter((name) => /^(lock|free|draft)/.test(name))).toEqual(["lock.8"]);
});

it("leaves nothing but values, logs and given-back locks behind", async () => {
  const folder = await tempFolder();
  const storage = await JsonFileStorage.open(folder);
  const store = new JsonFileDocumentStore(storage);
  await storage.set("k", 1);
  await storage.delete("k");
  await store.append(await store.acquire(session), [record("one")]);
  await store.close();
  await storage.close();
  expect((await readdir(folder, { recursive: true })).sort()).toEqual(
    ["owners", "sessions", "sessions/s", "sessions/s/free.1", "sessions/s/log.jsonl", "values", "values.lock"]
      .concat("values.lock/free.2")
      .map((path) => path.replaceAll("/", process.platform === "win32" ? "\\" : "/")),
  );
});

it("says which file of a value is damaged", async () => {
  const folder = await tempFolder();
  const storage = await JsonFileStorage.open(folder);
  await storage.set("k", 1);
  await writeFile(join(folder, "values", "k.json"), "{");
  await expect(storage.get("k")).rejects.toThrow(/values.k\.json is not valid JSON/);
  await storage.close();
});

it("says why a folder cannot be opened", async () => {
  const folder = await tempFolder();
  await writeFile(join(folder, "file"), "");
  await expect(JsonFileStorage.open(join(folder, "file"))).rejects.toSatisfy((error) =>
    AgenticError.is(error, "store"),
  );
});
