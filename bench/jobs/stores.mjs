// What a worker of sessions.mjs does to a store: appends records, and reads them again.
import { join } from "node:path";
import { MemoryDocumentStore, SqlDocumentStore } from "@shedkit/store";
import { JsonFileDocumentStore, JsonFileStorage } from "@shedkit/store-json-file";
import { LevelDocumentStore, LevelStorage } from "@shedkit/store-level";
import { LibsqlStorage } from "@shedkit/store-libsql";
import { PostgresStorage } from "@shedkit/store-postgres";
import { Messages, newId } from "@shedkit/types";
import { timed } from "../lib/measure.mjs";

const STORES = {
  "in memory": async () => [new MemoryDocumentStore()],
  "JSON lines": async (folder) => {
    const storage = await JsonFileStorage.open(folder);
    return [new JsonFileDocumentStore(storage), storage];
  },
  level: async (folder) => {
    const storage = await LevelStorage.open(folder);
    return [new LevelDocumentStore(storage), storage];
  },
  libsql: async (folder) => {
    const storage = await LibsqlStorage.open(`file:${join(folder, "a.db")}`);
    return [new SqlDocumentStore(storage), storage];
  },
  postgres: async (_, url) => {
    const storage = await PostgresStorage.open(url);
    return [new SqlDocumentStore(storage), storage];
  },
};
const TEXT = "The harbour is quiet, and the ledger says that nothing came in today. ".repeat(4);
const record = () => ({ id: newId(), v: 1, at: Date.now(), type: "conversation", message: Messages.user(TEXT) });

/** Milliseconds of an append of one record and of three; of taking up a log of `count` records; of its last hundred. */
export async function run({ store, folder, url, count }) {
  const [documents, storage] = await STORES[store](folder, url);
  const session = `bench-${newId()}`;
  const lease = await documents.acquire(session);
  await documents.append(lease, [record()]);
  const singles = Math.min(count / 10, 200);
  const one = await timed(async () => {
    for (let i = 0; i < singles; i++) await documents.append(lease, [record()]);
  });
  const threes = await timed(async () => {
    for (let i = 0; i < singles; i++) await documents.append(lease, [record(), record(), record()]);
  });
  for (let at = 1 + singles * 4; at < count; at += 500) {
    await documents.append(lease, Array.from({ length: Math.min(500, count - at) }, record));
  }
  const read = async (range) => {
    let found = 0;
    for await (const _ of documents.read(session, range)) found++;
    return found;
  };
  await read();
  const whole = await timed(() => read());
  if (whole.result !== count) throw new Error(`${whole.result} records were read of ${count}.`);
  const last = await timed(() => read({ last: 100 }));
  await documents.delete(session);
  await documents.close();
  await storage?.close();
  return { one: one.wall / singles, threes: threes.wall / singles, whole: whole.wall, last: last.wall };
}
