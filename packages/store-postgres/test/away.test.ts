import { SqlDocumentStore } from "@shedkit/store";
import { Messages, newId, type SessionId, type SessionRecord } from "@shedkit/types";
import { expect, it, onTestFinished } from "vitest";
import { PostgresStorage } from "../src/index.js";
import { line } from "./support/line.js";
import { newSchema } from "./support/schema.js";
import { startPostgres } from "./support/server.js";

const session = "s" as SessionId;
const record = (text: string): SessionRecord => ({
  id: newId(),
  v: 1,
  at: 1,
  type: "conversation",
  message: Messages.user(text),
});

async function textsOf(store: SqlDocumentStore): Promise<string[]> {
  const texts: string[] = [];
  for await (const { record } of store.read(session)) {
    if (record.type !== "conversation" || record.message.type === "assistant") continue;
    const [part] = record.message.content;
    if (part?.type === "text") texts.push(part.text);
  }
  return texts;
}

it("a server that answers no more is given up after timeoutMs; what it missed is appended once it is back", async () => {
  const { url, freeze, thaw, cut } = await line(await newSchema());
  const db = await PostgresStorage.open(url, { timeoutMs: 5000 });
  const documents = new SqlDocumentStore(db);
  const lease = await documents.acquire(session);
  await documents.append(lease, [record("one")]);
  freeze();
  await expect(db.query("SELECT 1")).rejects.toMatchObject({ code: "store", retryable: true });
  const appending = documents.append(lease, [record("two")]);
  cut();
  thaw();
  expect(await appending).toBe(2);
  expect(await textsOf(documents)).toEqual(["one", "two"]);
  await db.close();
});

it("a storage whose server answers no more can be closed, and leaves no connection", async () => {
  const { url, freeze } = await line(await newSchema());
  const sockets = () => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
  const db = await PostgresStorage.open(url);
  await db.query("SELECT 1");
  const before = sockets();
  freeze();
  await db.close();
  await expect.poll(sockets, { timeout: 30_000 }).toBeLessThan(before);
});

it("an append outlasts a server that starts again, and is done once", async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const db = await PostgresStorage.open(server.url);
  const documents = new SqlDocumentStore(db);
  const lease = await documents.acquire(session);
  await documents.append(lease, [record("0")]);
  let done = 0;
  const restarting = server.restart();
  let over = false;
  void restarting.finally(() => {
    over = true;
  });
  for (let n = 1; !over || n < 5; n++) {
    // Longer than it is waited for, on a busy machine: then the caller tries again.
    await documents.append(lease, [record(`${n}`)]).then(
      () => {
        done++;
      },
      () => undefined,
    );
  }
  await restarting;
  await expect.poll(() => documents.append(lease, [record("last")]).catch(() => 0), { timeout: 30_000 }).not.toBe(0);
  const texts = await textsOf(documents);
  expect(new Set(texts).size).toBe(texts.length); // none twice
  expect(texts.length).toBeGreaterThanOrEqual(done + 2);
  expect(texts.at(-1)).toBe("last");
  await db.close();
});
