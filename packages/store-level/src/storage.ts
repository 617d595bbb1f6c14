import type { KeyValueStore } from "@shedkit/store";
import { checkKey, closedError, jsonText, LeaseQueue, storeError, versionError } from "@shedkit/store/backend";
import { AgenticError, type JsonValue } from "@shedkit/types";
import { AFTER, isLocked, type Level, openLevel, SEPARATOR } from "./database.js";

const VERSION_KEY = "version"; // the last one given

/**
 * A LevelDB database in a folder: keys and values, and the logs of `LevelDocumentStore`. Failures are AgenticError
 * `store`.
 *
 * One process at a time may have it open. While another has, every operation throws a retryable error, and tries
 * again to open it when called again; `LevelDocumentStore.acquire` waits for it.
 */
export class LevelStorage implements KeyValueStore {
  readonly folder: string;
  /** @internal Who writes to which session: every document store over this storage asks here. */
  readonly leases = new LeaseQueue();
  #db: Promise<Level> | undefined;
  #version = 0;
  #writing: Promise<unknown> = Promise.resolve();
  #closed = false;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Opens the folder, and makes it if it is not there. That another process has it open is no error yet. */
  static async open(folder: string): Promise<LevelStorage> {
    const storage = new LevelStorage(folder);
    await storage.database("open").catch((error: unknown) => {
      if (!isLocked(error)) throw error;
    });
    return storage;
  }

  async get(key: string): Promise<JsonValue | undefined> {
    return this.#run("get", key, async (db) => entryOf(await db.get(nameOf(key)))?.[1]);
  }

  async set(key: string, value: JsonValue, options: { ifVersion?: number | undefined } = {}): Promise<number> {
    const json = jsonText(value, "level", "set"); // now: the caller may change it later
    return this.#run("set", key, (db) =>
      this.#inTurn(async () => {
        const { ifVersion } = options;
        const now = ifVersion === undefined ? 0 : (entryOf(await db.get(nameOf(key)))?.[0] ?? 0);
        if (ifVersion !== undefined && ifVersion !== now) throw versionError("level", key, ifVersion, now);
        const version = ++this.#version;
        const entries = { [nameOf(key)]: `[${version},${json}]`, [VERSION_KEY]: `${version}` };
        await db.batch(
          Object.entries(entries).map(([name, text]) => ({ type: "put" as const, key: name, value: text })),
          { sync: true },
        );
        return version;
      }),
    );
  }

  async delete(key: string): Promise<boolean> {
    return this.#run("delete", key, (db) =>
      this.#inTurn(async () => {
        if ((await db.get(nameOf(key))) === undefined) return false;
        await db.del(nameOf(key), { sync: true });
        return true;
      }),
    );
  }

  async *keys(prefix = ""): AsyncGenerator<string, void, void> {
    const db = await this.#run("keys", prefix, async (opened) => opened);
    const start = nameOf("");
    for await (const name of db.keys({ gte: nameOf(prefix), lt: `k${AFTER}` })) {
      const key = name.slice(start.length);
      if (!key.startsWith(prefix)) return; // keys that begin alike lie together
      yield key;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.leases.close(() => this.#closedError("acquire"));
    await this.#writing;
    await (await this.#db?.catch(() => undefined))?.close();
  }

  /** @internal The open database. */
  async database(operation: string): Promise<Level> {
    if (this.#closed) throw this.#closedError(operation);
    this.#db ??= this.#open();
    try {
      return await this.#db;
    } catch (error) {
      this.#db = undefined;
      throw error;
    }
  }

  async #open(): Promise<Level> {
    const db = await openLevel(this.folder);
    this.#version = Number((await db.get(VERSION_KEY)) ?? 0);
    return db;
  }

  /** Reading a version and setting the next must not be mixed with another's. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#writing.then(work);
    this.#writing = done.catch(() => {});
    return done;
  }

  async #run<T>(operation: string, key: string, work: (db: Level) => Promise<T>): Promise<T> {
    checkKey(key, "level", operation);
    try {
      return await work(await this.database(operation));
    } catch (error) {
      throw AgenticError.is(error) || !this.#closed
        ? storeError(error, "level", operation)
        : this.#closedError(operation);
    }
  }

  #closedError(operation: string): AgenticError {
    return closedError("level", operation, "Open a new LevelStorage.");
  }
}

function nameOf(key: string): string {
  return `k${SEPARATOR}${key}`;
}

function entryOf(text: string | undefined): [version: number, value: JsonValue] | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as [number, JsonValue]);
}
