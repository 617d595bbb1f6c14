import { join } from "node:path";
import { type DocumentStore, type KeyValueStore, SqlDocumentStore } from "@shedkit/store";

/** The stores that outlive a process. Imported when needed: a child starts sooner with one. */
const openers = {
  "store-json-file": async (folder: string) => {
    const { JsonFileDocumentStore, JsonFileStorage } = await import("@shedkit/store-json-file");
    const storage = await JsonFileStorage.open(join(folder, "store"));
    return { storage, store: new JsonFileDocumentStore(storage) };
  },
  "store-libsql": async (folder: string) => {
    const { LibsqlStorage } = await import("@shedkit/store-libsql");
    const storage = await LibsqlStorage.open(`file:${join(folder, "store.db")}`);
    return { storage, store: new SqlDocumentStore(storage) };
  },
  "store-level": async (folder: string) => {
    const { LevelDocumentStore, LevelStorage } = await import("@shedkit/store-level");
    const storage = await LevelStorage.open(join(folder, "store"));
    return { storage, store: new LevelDocumentStore(storage) };
  },
  "store-postgres": async (_: string, server: string) => {
    const { PostgresStorage } = await import("@shedkit/store-postgres");
    const storage = await PostgresStorage.open(server);
    return { storage, store: new SqlDocumentStore(storage) };
  },
  "store-cloudflare": async (_: string, server: string) => {
    const { D1R2DocumentStore, D1Store, R2Store } = await import("@shedkit/store-cloudflare");
    const { d1, r2 } = JSON.parse(server);
    const storage = D1Store.http(d1);
    return { storage, store: new D1R2DocumentStore(storage, R2Store.s3(r2)) };
  },
};

export type StoreKind = keyof typeof openers;

export const storeKinds = Object.keys(openers) as StoreKind[];

/** Opens a store; `server` says where its server is, if it has one, else it lies in `folder`. */
export function openStore(
  kind: StoreKind,
  folder: string,
  server: string,
): Promise<{ storage: KeyValueStore; store: DocumentStore }> {
  return openers[kind](folder, server);
}
