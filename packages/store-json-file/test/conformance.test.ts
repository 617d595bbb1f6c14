import { KvMemoryStore } from "@shedkit/store";
import {
  documentStoreCases,
  keyValueStoreCases,
  memoryStoreCases,
  reopeningDocumentCases,
  reopeningKeyValueCases,
} from "@shedkit/store/conformance";
import { describe, it, onTestFinished } from "vitest";
import { JsonFileDocumentStore, JsonFileStorage } from "../src/index.js";
import { tempFolder } from "./support/temp-folder.js";

/** Opens one folder, each time by a storage of its own. */
async function reopening(): Promise<() => Promise<JsonFileStorage>> {
  const folder = await tempFolder();
  return async () => {
    const storage = await JsonFileStorage.open(folder);
    onTestFinished(() => storage.close());
    return storage;
  };
}
const open = async (): Promise<JsonFileStorage> => (await reopening())();

describe("JsonFileStorage", () => {
  for (const { name, run } of keyValueStoreCases) it(name, async () => run(await open()));
  for (const { name, run } of reopeningKeyValueCases) it(name, async () => run(await reopening()));
});

describe("JsonFileDocumentStore", () => {
  for (const { name, run } of documentStoreCases) it(name, async () => run(new JsonFileDocumentStore(await open())));
  for (const { name, run } of reopeningDocumentCases) {
    it(name, async () => {
      const openOne = await reopening();
      await run(async () => new JsonFileDocumentStore(await openOne()));
    });
  }
});

describe("KvMemoryStore on JSON files", () => {
  for (const { name, run } of memoryStoreCases) it(name, async () => run(new KvMemoryStore(await open())));
});
