import { join } from "node:path";
import { KvMemoryStore, SqlDocumentStore } from "@shedkit/store";
import {
  documentStoreCases,
  keyValueStoreCases,
  memoryStoreCases,
  queryStoreCases,
  reopeningDocumentCases,
  reopeningKeyValueCases,
  vectorStoreCases,
} from "@shedkit/store/conformance";
import { describe, it, onTestFinished } from "vitest";
import { LibsqlStorage } from "../src/index.js";
import { hranaServer } from "./support/hrana-server.js";
import { tempFolder } from "./support/temp-folder.js";

const places: { [name: string]: () => Promise<string> } = {
  "in memory": async () => ":memory:",
  "in a file": async () => `file:${join(await tempFolder(), "a.db")}`,
  "over HTTP": async () => (await hranaServer()).url,
};

for (const [place, newUrl] of Object.entries(places)) {
  const open = async (): Promise<LibsqlStorage> => {
    const storage = await LibsqlStorage.open(await newUrl());
    onTestFinished(() => storage.close());
    return storage;
  };
  /** Each one over a storage of its own. */
  const reopening = async () => {
    const url = await newUrl();
    return async () => {
      const storage = await LibsqlStorage.open(url);
      onTestFinished(() => storage.close());
      return storage;
    };
  };

  describe(`LibsqlStorage ${place}`, () => {
    for (const { name, run } of queryStoreCases) it(name, async () => run(await open()));
    for (const { name, run } of keyValueStoreCases) it(name, async () => run(await open()));
    if (place === "in memory") return;
    for (const { name, run } of reopeningKeyValueCases) it(name, async () => run(await reopening()));
  });

  describe(`SqlDocumentStore on libsql ${place}`, () => {
    for (const { name, run } of documentStoreCases) it(name, async () => run(new SqlDocumentStore(await open())));
    // The server of these tests is no libsql of its own: it has no such functions.
    const cases = place === "over HTTP" ? [] : vectorStoreCases;
    for (const { name, run } of cases) it(name, async () => run(new SqlDocumentStore(await open())));
    if (place === "in memory") return;
    for (const { name, run } of reopeningDocumentCases) {
      it(name, async () => {
        const openOne = await reopening();
        await run(async () => new SqlDocumentStore(await openOne()));
      });
    }
  });

  describe(`KvMemoryStore on libsql ${place}`, () => {
    for (const { name, run } of memoryStoreCases) it(name, async () => run(new KvMemoryStore(await open())));
  });
}
