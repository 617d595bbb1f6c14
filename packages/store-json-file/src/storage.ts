import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { KeyValueStore } from "@shedkit/store";
import { checkKey, closedError, compareKeys, jsonText, storeError, versionError } from "@shedkit/store/backend";
import { makeFolder } from "@shedkit/store/node";
import { type JsonValue, newId } from "@shedkit/types";
import { FileLock } from "./file-lock.js";
import { fileName } from "./names.js";
import { Presence } from "./presence.js";
import { isMissing, replaceFile, syncFolder } from "./write-file.js";

interface Value {
  key: string;
  version: number;
  value: JsonValue;
}

const LOCK_PAUSE_MS = 5;
/** What is being deleted is called so first: it is gone at once, and its files follow. */
export const DELETED = "deleted.";

/**
 * A folder of JSON files: a file for each key, and the logs of `JsonFileDocumentStore`. Several processes may have it
 * open. Failures are AgenticError `store`.
 */
export class JsonFileStorage implements KeyValueStore {
  readonly folder: string;
  readonly #values: string;
  readonly #presence: Presence;
  readonly #lock: FileLock;
  #writing: Promise<unknown> = Promise.resolve();
  #closed = false;

  private constructor(folder: string) {
    this.folder = folder;
    this.#values = join(folder, "values");
    this.#presence = new Presence(join(folder, "owners"));
    this.#lock = new FileLock(join(folder, "values.lock"), this.#presence);
  }

  /** Opens the folder, and makes it if it is not there. */
  static async open(folder: string): Promise<JsonFileStorage> {
    const storage = new JsonFileStorage(folder);
    try {
      await makeFolder(storage.#values);
      await storage.#presence.begin();
      // A process that was killed while it deleted a session has left it there.
      for (const name of await readdir(folder)) {
        if (name.startsWith(DELETED)) await rm(join(folder, name), { recursive: true, force: true });
      }
    } catch (error) {
      await storage.close();
      throw storeError(error, "json-file", "open");
    }
    return storage;
  }

  async get(key: string): Promise<JsonValue | undefined> {
    return this.#run("get", key, async () => (await this.#read(join(this.#values, `${fileName(key)}.json`)))?.value);
  }

  async set(key: string, value: JsonValue, options: { ifVersion?: number | undefined } = {}): Promise<number> {
    const json = jsonText(value, "json-file", "set"); // now: the caller may change it later
    return this.#write("set", key, async (fence) => {
      const path = join(this.#values, `${fileName(key)}.json`);
      const now = (await this.#read(path))?.version ?? 0;
      if (options.ifVersion !== undefined && options.ifVersion !== now) {
        throw versionError("json-file", key, options.ifVersion, now);
      }
      const version = Math.max(fence, now + 1); // a value that was copied here may have the greater number
      const text = `{"key":${JSON.stringify(key)},"version":${version},"value":${json}}\n`;
      await replaceFile(path, text, join(this.folder, `draft.${newId()}`));
      return version;
    });
  }

  async delete(key: string): Promise<boolean> {
    return this.#write("delete", key, async () => {
      try {
        await rm(join(this.#values, `${fileName(key)}.json`));
      } catch (error) {
        if (isMissing(error)) return false;
        throw error;
      }
      await syncFolder(this.#values);
      return true;
    });
  }

  async *keys(prefix = ""): AsyncGenerator<string, void, void> {
    const keys = await this.#run("keys", prefix, async () => {
      const found: string[] = [];
      for (const name of await readdir(this.#values)) {
        if (!name.endsWith(".json")) continue;
        const key = name.includes("~") ? (await this.#read(join(this.#values, name)))?.key : keyOf(name);
        if (key?.startsWith(prefix)) found.push(key);
      }
      return found.sort(compareKeys);
    });
    yield* keys;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#writing;
    await this.#presence.end();
  }

  /** @internal A lock of this storage's holder. */
  lockIn(folder: string): FileLock {
    return new FileLock(folder, this.#presence);
  }

  /** @internal Throws when the storage is closed. */
  check(operation: string): void {
    if (this.#closed) throw closedError("json-file", operation, "Open a new JsonFileStorage.");
  }

  /** One writer at a time, over all processes. The fence of its lock is the version: no number comes twice. */
  async #write<T>(operation: string, key: string, work: (fence: number) => Promise<T>): Promise<T> {
    return this.#run(operation, key, async () => {
      const done = this.#writing.then(async () => {
        let fence = await this.#lock.tryTake();
        while (fence === undefined) {
          await new Promise((resolve) => setTimeout(resolve, LOCK_PAUSE_MS));
          fence = await this.#lock.tryTake();
        }
        try {
          return await work(fence);
        } finally {
          await this.#lock.release(fence);
        }
      });
      this.#writing = done.catch(() => {});
      return done;
    });
  }

  async #read(path: string): Promise<Value | undefined> {
    let text: string;
    try {
      text = await readFile(path, "utf8");
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
    try {
      return JSON.parse(text) as Value;
    } catch (error) {
      throw new Error(`${path} is not valid JSON (${(error as Error).message}). Mend it or delete it.`);
    }
  }

  async #run<T>(operation: string, key: string, work: () => Promise<T>): Promise<T> {
    this.check(operation);
    checkKey(key, "json-file", operation);
    try {
      return await work();
    } catch (error) {
      throw storeError(error, "json-file", operation);
    }
  }
}

/** The key that became that file name; undefined for a name that no key became. */
function keyOf(name: string): string | undefined {
  const encoded = name.slice(0, -".json".length);
  try {
    return encoded === "%" ? "" : decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
