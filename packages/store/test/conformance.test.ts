import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, onTestFinished } from "vitest";
import { SqlKeyValues } from "../src/backend.js";
import {
  documentStoreCases,
  keyValueStoreCases,
  memoryStoreCases,
  queryStoreCases,
  reopeningDocumentCases,
  vectorStoreCases,
} from "../src/conformance/index.js";
import { KvMemoryStore, MemoryDocumentStore, MemoryStorage, SqlDocumentStore } from "../src/index.js";
import { NodeSqlite } from "./support/node-sqlite.js";

describe("MemoryDocumentStore", () => {
  for (const { name, run } of documentStoreCases) it(name, () => run(new MemoryDocumentStore()));
});

describe("MemoryStorage", () => {
  for (const { name, run } of keyValueStoreCases) it(name, () => run(new MemoryStorage()));
});

describe("KvMemoryStore", () => {
  for (const { name, run } of memoryStoreCases) it(name, () => run(new KvMemoryStore(new MemoryStorage())));
});

describe("a QueryStore", () => {
  for (const { name, run } of queryStoreCases) it(name, () => run(new NodeSqlite()));
});

describe("SqlDocumentStore", () => {
  for (const { name, run } of documentStoreCases) it(name, () => run(new SqlDocumentStore(new NodeSqlite())));

  for (const { name, run } of vectorStoreCases) it(name, () => run(new SqlDocumentStore(new NodeSqlite())));

  describe("with a prefix before its tables", () => {
    class Prefixed extends NodeSqlite {
      readonly tablePrefix = "app_";
    }
    for (const { name, run } of [...documentStoreCases, ...vectorStoreCases]) {
      it(name, () => run(new SqlDocumentStore(new Prefixed())));
    }
  });

  for (const { name, run } of reopeningDocumentCases) {
    it(name, async () => {
      const folder = await mkdtemp(join(tmpdir(), "shedkit-store-"));
      onTestFinished(() => rm(folder, { recursive: true }));
      await run(async () => new SqlDocumentStore(new NodeSqlite(join(folder, "a.db"))));
    });
  }
});

describe("SqlKeyValues", () => {
  class Storage extends NodeSqlite {
    readonly #values = new SqlKeyValues(this, "node-sqlite");
    readonly #ready = this.#values.initSchema();
    async get(key: string) {
      await this.#ready;
      return this.#values.get(key);
    }
    async set(...args: Parameters<SqlKeyValues["set"]>) {
      await this.#ready;
      return this.#values.set(...args);
    }
    async delete(key: string) {
      await this.#ready;
      return this.#values.delete(key);
    }
    async *keys(prefix?: string) {
      await this.#ready;
      yield* this.#values.keys(prefix);
    }
  }
  for (const { name, run } of keyValueStoreCases) it(name, () => run(new Storage()));
});
