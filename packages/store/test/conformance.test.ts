import { describe, it } from "vitest";
import { documentStoreCases, keyValueStoreCases, memoryStoreCases } from "../src/conformance/index.js";
import { KvMemoryStore, MemoryDocumentStore, MemoryStorage } from "../src/index.js";

describe("MemoryDocumentStore", () => {
  for (const { name, run } of documentStoreCases) it(name, () => run(new MemoryDocumentStore()));
});

describe("MemoryStorage", () => {
  for (const { name, run } of keyValueStoreCases) it(name, () => run(new MemoryStorage()));
});

describe("KvMemoryStore", () => {
  for (const { name, run } of memoryStoreCases) it(name, () => run(new KvMemoryStore(new MemoryStorage())));
});
