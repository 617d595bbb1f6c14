import type { JsonValue } from "@shedkit/types";
import type { KeyValueStore } from "./contract.js";
import { jsonText } from "./json-text.js";
import { checkKey, compareKeys } from "./keys.js";
import { closedError, versionError } from "./store-error.js";

/** Keys and values in memory: gone with the process. Values are copied in and out, as a store on disk would. */
export class MemoryStorage implements KeyValueStore {
  /** Made when it is first needed: of many sessions, most keep nothing here. */
  #entries: Map<string, { json: string; version: number }> | undefined;
  #version = 0; // one counter for all keys: the version of a deleted key never comes back
  #closed = false;

  async get(key: string): Promise<JsonValue | undefined> {
    this.#check("get", key);
    const entry = this.#entries?.get(key);
    return entry === undefined ? undefined : (JSON.parse(entry.json) as JsonValue);
  }

  async set(key: string, value: JsonValue, options: { ifVersion?: number | undefined } = {}): Promise<number> {
    this.#check("set", key);
    const now = this.#entries?.get(key)?.version ?? 0;
    if (options.ifVersion !== undefined && options.ifVersion !== now) {
      throw versionError("memory", key, options.ifVersion, now);
    }
    const json = jsonText(value, "memory", "set");
    this.#entries ??= new Map();
    this.#entries.set(key, { json, version: ++this.#version });
    return this.#version;
  }

  async delete(key: string): Promise<boolean> {
    this.#check("delete", key);
    return this.#entries?.delete(key) ?? false;
  }

  async *keys(prefix = ""): AsyncGenerator<string, void, void> {
    this.#check("keys", prefix);
    yield* [...(this.#entries?.keys() ?? [])].filter((key) => key.startsWith(prefix)).sort(compareKeys);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#entries = undefined;
  }

  #check(operation: string, key: string): void {
    if (this.#closed) throw closedError("memory", operation, "Make a new MemoryStorage.");
    checkKey(key, "memory", operation);
  }
}
