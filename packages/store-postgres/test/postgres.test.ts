import { KvMemoryStore, SqlDocumentStore } from "@shedkit/store";
import { AgenticError, Messages, newId, type SessionId, type SessionRecord } from "@shedkit/types";
import { expect, inject, it } from "vitest";
import { PostgresStorage } from "../src/index.js";
import { newSchema } from "./support/schema.js";

const session = "s" as SessionId;
const record = (text: string): SessionRecord => ({
  id: newId(),
  v: 1,
  at: 1,
  type: "conversation",
  message: Messages.user(text),
});

it("one storage backs the log and the memory", async () => {
  const db = await PostgresStorage.open(await newSchema());
  const [documents, memory] = [new SqlDocumentStore(db), new KvMemoryStore(db)];
  await documents.append(await documents.acquire(session), [record("one")]);
  await memory.write(session, "working", { id: "r", v: 1, at: 1, type: "workingMemory", version: 1, facts: ["a"] });
  await documents.close();
  expect((await memory.read(session)).working?.facts).toEqual(["a"]);
  await db.close();
});

it("knows who is connected, and says nothing of names that it did not give", async () => {
  const url = await newSchema();
  const [one, two] = [await PostgresStorage.open(url), await PostgresStorage.open(url)];
  expect(await one.isAlive(two.owner)).toBe(true);
  await two.close();
  await expect.poll(() => one.isAlive(two.owner)).toBe(false);
  expect(await one.isAlive("elsewhere")).toBeUndefined();
  await one.close();
});

it("goes on after the server cut every connection, and says again that it is there", async () => {
  const url = await newSchema();
  const [db, other] = [await PostgresStorage.open(url), await PostgresStorage.open(url)];
  const documents = new SqlDocumentStore(db);
  const lease = await documents.acquire(session);
  await documents.append(lease, [record("one")]);
  await other.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()");
  await expect.poll(() => documents.append(lease, [record("two")]).catch(() => 0), { timeout: 5000 }).toBe(2);
  await expect.poll(() => other.isAlive(db.owner).catch(() => false), { timeout: 5000 }).toBe(true);
  await Promise.all([db.close(), other.close()]);
});

it("two that append to one session under a row lock never mix, whatever their leases say", async () => {
  const url = await newSchema();
  const [one, two] = [await PostgresStorage.open(url), await PostgresStorage.open(url)];
  const [holder, thief] = [new SqlDocumentStore(one), new SqlDocumentStore(two)];
  const old = await holder.acquire(session);
  await one.query("UPDATE shedkit_sessions SET owner = NULL"); // as if its connection had been lost for a while
  const lease = await thief.acquire(session);
  const outcomes = await Promise.allSettled([
    ...[1, 2, 3].map((n) => holder.append(old, [record(`old ${n}`)])),
    ...[1, 2, 3].map((n) => thief.append(lease, [record(`new ${n}`)])),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual([
    ...["rejected", "rejected", "rejected"],
    ...["fulfilled", "fulfilled", "fulfilled"],
  ]);
  for (const outcome of outcomes.slice(0, 3)) {
    expect(outcome.status === "rejected" && AgenticError.is(outcome.reason, "sessionBusy")).toBe(true);
  }
  await Promise.all([one.close(), two.close()]);
});

it("says what is wrong with a server, a database and a statement", async () => {
  const server = new URL(inject("postgres"));
  await expect(PostgresStorage.open(`${server.href.replace("/postgres", "/none")}`)).rejects.toThrow(
    /"none" does not exist/,
  );
  server.port = "1";
  await expect(PostgresStorage.open(server.href)).rejects.toMatchObject({ code: "store", retryable: true });
  await expect(PostgresStorage.open(server.href)).rejects.toThrow(/postgres: open failed: .*ECONNREFUSED/);
});
