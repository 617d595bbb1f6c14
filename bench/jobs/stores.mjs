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
/** What appends of one size may take. */
const APPENDS_MS = 3000;
const TEXT = "The harbour is quiet, and the ledger says that nothing came in today. ".repeat(4);
const record = () => ({ id: newId(), v: 1, at: Date.now(), type: "conversation", message: Messages.user(TEXT) });

/** Milliseconds of an append of one record and of three; of taking up a log of `count` records; of its last hundred. */
export async function run({ store, folder, url, count }) {
  const [documents, storage] = await STORES[store](folder, url);
  const session = `bench-${newId()}`;
  const lease = await documents.acquire(session);
  await documents.append(lease, [record()]);
  const one = await appends(() => documents.append(lease, [record()]), count / 10);
  const threes = await appends(() => documents.append(lease, [record(), record(), record()]), count / 10);
  for (let at = 1 + one.times + threes.times * 3; at < count; at += 500) {
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
  return { one: one.each, threes: threes.each, whole: whole.wall, last: last.wall };
}

/** One after the other, as many as there is time for, 200 at most. */
async function appends(append, most) {
  let times = 0;
  const start = performance.now();
  while (times < Math.min(most, 200) && performance.now() - start < APPENDS_MS) {
    await append();
    times++;
  }
  return { times, each: (performance.now() - start) / times };
}
