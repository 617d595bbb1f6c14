import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgenticError, Messages, newId, type SessionId, type SessionRecord } from "@shedkit/types";
import { describe, expect, it, onTestFinished } from "vitest";
import { migrate } from "../src/backend.js";
import { type BlobStore, SqlDocumentStore } from "../src/index.js";
import { NodeSqlite } from "./support/node-sqlite.js";

const session = "s" as SessionId;

function record(text: string): SessionRecord {
  return { id: newId(), v: 1, at: 1, type: "conversation", message: Messages.user(text) };
}

function deferred(): { promise: Promise<void>; resolve(): void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

async function seqsOf(store: SqlDocumentStore): Promise<number[]> {
  const seqs: number[] = [];
  for await (const { seq } of store.read(session)) seqs.push(seq);
  return seqs;
}

async function twoOnOneFile() {
  const folder = await mkdtemp(join(tmpdir(), "shedkit-store-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const open = (leaseMs?: number) => new SqlDocumentStore(new NodeSqlite(join(folder, "a.db")), { leaseMs });
  return open;
}

describe("SqlDocumentStore", () => {
  it("takes an append for one transaction, however long the log is", async () => {
    const storage = new NodeSqlite();
    const store = new SqlDocumentStore(storage);
    const lease = await store.acquire(session);
    await store.append(
      lease,
      Array.from({ length: 2000 }, (_, i) => record(`${i}`)),
    );
    const before = storage.batches;
    await store.append(lease, [record("a"), record("b")]);
    expect(storage.batches).toBe(before + 1);
  });

  it("counts an append whose answer was lost as done, once", async () => {
    const storage = new NodeSqlite();
    const store = new SqlDocumentStore(storage);
    const lease = await store.acquire(session);
    await store.append(lease, [record("one")]);
    storage.afterBatch = () => {
      storage.afterBatch = undefined;
      throw new Error("the line broke");
    };
    expect(await store.append(lease, [record("two")])).toBe(2);
    expect(await store.append(lease, [record("three")])).toBe(3);
    expect(await seqsOf(store)).toEqual([1, 2, 3]);
  });

  it("sends an append again that a passing failure kept out, and gives up on one that stays", async () => {
    const storage = new NodeSqlite();
    const store = new SqlDocumentStore(storage);
    const lease = await store.acquire(session);
    const broken = (retryable: boolean) =>
      new AgenticError("store", "The line is down.", { store: "test", operation: "batch" }, { retryable });
    const failing = (times: number, error: AgenticError) => {
      storage.batches = 0;
      storage.beforeBatch = () => {
        if (storage.batches <= times) throw error;
      };
    };
    failing(2, broken(true));
    expect(await store.append(lease, [record("one")])).toBe(1);
    expect(storage.batches).toBe(3);
    failing(9, broken(true));
    await expect(store.append(lease, [record("two")])).rejects.toMatchObject({ code: "store", retryable: true });
    expect(storage.batches).toBe(4);
    failing(9, broken(false));
    await expect(store.append(lease, [record("two")])).rejects.toMatchObject({ code: "store" });
    expect(storage.batches).toBe(1);
    storage.beforeBatch = undefined;
    expect(await store.append(lease, [record("three")])).toBe(2);
    expect(await seqsOf(store)).toEqual([1, 2]);
  });

  it("asks again what became of an append while the database is away, and sends it once", async () => {
    const storage = new NodeSqlite();
    const store = new SqlDocumentStore(storage);
    const lease = await store.acquire(session);
    const query = storage.query.bind(storage);
    const down = () => new AgenticError("store", "It is down.", { store: "test", operation: "" }, { retryable: true });
    for (const done of [true, false]) {
      let lost = 0;
      const away = () => {
        if (lost++ < 3) throw down(); // the batch, and two questions after it
      };
      storage[done ? "afterBatch" : "beforeBatch"] = away;
      storage.query = async (...args) => {
        if (lost > 0) away();
        return query(...args);
      };
      const { batches } = storage;
      expect(await store.append(lease, [record("one")])).toBe(done ? 1 : 2);
      expect(storage.batches - batches).toBe(done ? 1 : 2);
      storage.afterBatch = undefined;
      storage.beforeBatch = undefined;
      storage.query = query;
    }
    expect(await seqsOf(store)).toEqual([1, 2]);
  });

  it("keeps the blobs of an append of which nobody can tell whether it was done", async () => {
    const blobs = new Map<string, Uint8Array>();
    const blobStore: BlobStore = {
      put: async (key, data) => void blobs.set(key, data),
      get: async (key) => blobs.get(key),
      delete: async (key) => blobs.delete(key),
    };
    const storage = new NodeSqlite();
    const store = new SqlDocumentStore(storage, { blobs: blobStore, inlineLength: 10 });
    const lease = await store.acquire(session);
    const query = storage.query.bind(storage);
    storage.afterBatch = () => {
      storage.query = async () => {
        throw new Error("the line is down");
      };
      throw new Error("the line broke");
    };
    await expect(store.append(lease, [record("a long record")])).rejects.toMatchObject({ code: "store" });
    storage.query = query;
    expect(await seqsOf(store)).toEqual([1]);
  });

  it("frees the session of a holder that said nothing for leaseMs, and its old fence writes no more", async () => {
    const open = await twoOnOneFile();
    const [hung, next] = [open(40), open()];
    const old = await hung.acquire(session);
    await hung.append(old, [record("one")]);
    hung.storage.query = () => new Promise(() => {}); // hangs: it cannot say that it is alive
    const lease = await next.acquire(session, { waitMs: 10_000 });
    expect(lease.fence).toBeGreaterThan(old.fence);
    await next.append(lease, [record("two")]);
    hung.storage.query = NodeSqlite.prototype.query;
    await expect(hung.append(old, [record("late")])).rejects.toSatisfy((e) => AgenticError.is(e, "sessionBusy"));
    expect(await seqsOf(next)).toEqual([1, 2]);
  });

  it("says that it is there after it said that it is gone, however slow the way to the database is", async () => {
    const storage = new NodeSqlite();
    const store = new SqlDocumentStore(storage);
    const lease = await store.acquire(session);
    const query = storage.query.bind(storage);
    const [sent, way] = [deferred(), deferred()];
    storage.query = async (sql, args) => {
      if (sql.startsWith("DELETE FROM shedkit_owners")) {
        sent.resolve();
        await way.promise;
      }
      return query(sql, args);
    };
    const releasing = lease.release();
    await sent.promise;
    const taking = store.acquire("t" as SessionId);
    await new Promise((resolve) => setImmediate(resolve));
    way.resolve();
    await Promise.all([releasing, taking]);
    expect(await storage.query("SELECT * FROM shedkit_owners")).toHaveLength(1);
  });

  it("is taken over from a holder that lives by who says so", async () => {
    const open = await twoOnOneFile();
    const [holder, next] = [open(), open()];
    const old = await holder.acquire(session);
    await expect(next.acquire(session)).rejects.toSatisfy((e) => AgenticError.is(e, "sessionBusy"));
    const lease = await next.acquire(session, { takeOver: true });
    await next.append(lease, [record("one")]);
    await expect(holder.append(old, [record("late")])).rejects.toSatisfy((e) => AgenticError.is(e, "sessionBusy"));
    expect(await seqsOf(next)).toEqual([1]);
  });

  it("keeps the session of a holder that is idle but alive", async () => {
    const open = await twoOnOneFile();
    const [idle, next] = [open(900), open()];
    await idle.acquire(session);
    await expect(next.acquire(session, { waitMs: 1200 })).rejects.toSatisfy((e) => AgenticError.is(e, "sessionBusy"));
    await idle.close();
    await (await next.acquire(session)).release();
  });

  it("gives its leases back when it closes, and leaves the storage open", async () => {
    const storage = new NodeSqlite();
    const store = new SqlDocumentStore(storage);
    await store.acquire(session);
    await store.close();
    await (await new SqlDocumentStore(storage).acquire(session)).release();
    expect(await storage.query("SELECT * FROM shedkit_owners")).toEqual([]);
  });

  it("puts what is long into blobs, and takes it away with the session", async () => {
    const kept = new Map<string, Uint8Array>();
    const blobs: BlobStore = {
      put: async (key, data) => void kept.set(key, data),
      get: async (key) => kept.get(key),
      delete: async (key) => kept.delete(key),
    };
    const store = new SqlDocumentStore(new NodeSqlite(), { blobs, inlineLength: 200 });
    const lease = await store.acquire(session);
    const long = record("é".repeat(300));
    await store.append(lease, [record("short"), long]);
    expect(kept.size).toBe(1);
    const read: SessionRecord[] = [];
    for await (const stored of store.read(session)) read.push(stored.record);
    expect(read[1]).toEqual(long);
    await lease.release();
    await expect(store.append(lease, [record("y".repeat(300))])).rejects.toThrow();
    await store.delete(session);
    expect(kept.size).toBe(0);
  });

  it("refuses tables of a newer release by name", async () => {
    const storage = new NodeSqlite();
    await migrate(storage, "documents", [[], [], []]);
    await expect(new SqlDocumentStore(storage).sessions()).rejects.toThrow(/documents are of version 3.*Update/);
  });

  it("lets two make the tables at once", async () => {
    const open = await twoOnOneFile();
    await Promise.all([open(), open(), open()].map((store) => store.sessions()));
  });

  it("does a step of a migration once", async () => {
    const storage = new NodeSqlite();
    await migrate(storage, "x", [["CREATE TABLE x (a TEXT)"]]);
    await migrate(storage, "x", [["CREATE TABLE x (a TEXT)"], ["ALTER TABLE x ADD COLUMN b TEXT"]]);
    await expect(migrate(storage, "x", [["", ""], [], ["no SQL"]])).rejects.toThrow(/no/);
    expect(await storage.query("SELECT version FROM shedkit_schema")).toEqual([{ version: 2 }]);
  });

  it("says which blob is gone", async () => {
    const blobs: BlobStore = { put: async () => {}, get: async () => undefined, delete: async () => false };
    const store = new SqlDocumentStore(new NodeSqlite(), { blobs, inlineLength: 10 });
    await store.append(await store.acquire(session), [record("long enough")]);
    await expect(seqsOf(store)).rejects.toThrow(/blob "records\/.*is gone/);
  });
});
