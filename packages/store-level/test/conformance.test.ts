import { KvMemoryStore } from "@shedkit/store";
import {
  documentStoreCases,
  keyValueStoreCases,
  memoryStoreCases,
  reopeningDocumentCases,
  reopeningKeyValueCases,
} from "@shedkit/store/conformance";
import { describe, it, onTestFinished } from "vitest";
import { LevelDocumentStore, LevelStorage } from "../src/index.js";
import { tempFolder } from "./support/temp-folder.js";

/** One folder, opened as often as asked for. */
async function reopening(): Promise<() => Promise<LevelStorage>> {
  const folder = await tempFolder();
  return async () => {
    const storage = await LevelStorage.open(folder);
    onTestFinished(() => storage.close());
    return storage;
  };
}
const open = async (): Promise<LevelStorage> => (await reopening())();

/** LevelDB is open in one process at a time: a store that is done closes its storage too. */
class OneProcess extends LevelDocumentStore {
  override async close(): Promise<void> {
    await super.close();
    await this.storage.close();
  }
}

describe("LevelStorage", () => {
  for (const { name, run } of keyValueStoreCases) it(name, async () => run(await open()));
  for (const { name, run } of reopeningKeyValueCases) it(name, async () => run(await reopening()));
});

describe("LevelDocumentStore", () => {
  for (const { name, run } of documentStoreCases) it(name, async () => run(new LevelDocumentStore(await open())));
  for (const { name, run } of reopeningDocumentCases) {
    it(name, async () => {
      const openOne = await reopening();
      await run(async () => new OneProcess(await openOne()));
    });
  }
});

describe("KvMemoryStore on LevelDB", () => {
  for (const { name, run } of memoryStoreCases) it(name, async () => run(new KvMemoryStore(await open())));
});
