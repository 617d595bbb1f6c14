import { KvMemoryStore, SqlDocumentStore } from "@shedkit/store";
import {
  documentStoreCases,
  keyValueStoreCases,
  memoryStoreCases,
  queryStoreCases,
  reopeningDocumentCases,
  reopeningKeyValueCases,
} from "@shedkit/store/conformance";
import { describe, it, onTestFinished } from "vitest";
import { PostgresStorage } from "../src/index.js";
import { newSchema } from "./support/schema.js";

/** One schema, opened as often as asked for. */
async function reopening(): Promise<() => Promise<PostgresStorage>> {
  const url = await newSchema();
  return async () => {
    const storage = await PostgresStorage.open(url);
    onTestFinished(() => storage.close());
    return storage;
  };
}
const open = async (): Promise<PostgresStorage> => (await reopening())();

describe("PostgresStorage", () => {
  for (const { name, run } of queryStoreCases) it(name, async () => run(await open()));
  for (const { name, run } of keyValueStoreCases) it(name, async () => run(await open()));
  for (const { name, run } of reopeningKeyValueCases) it(name, async () => run(await reopening()));
});

describe("SqlDocumentStore on PostgreSQL", () => {
  for (const { name, run } of documentStoreCases) it(name, async () => run(new SqlDocumentStore(await open())));
  for (const { name, run } of reopeningDocumentCases) {
    it(name, async () => {
      const openOne = await reopening();
      await run(async () => new SqlDocumentStore(await openOne()));
    });
  }
});

describe("KvMemoryStore on PostgreSQL", () => {
  for (const { name, run } of memoryStoreCases) it(name, async () => run(new KvMemoryStore(await open())));
});
