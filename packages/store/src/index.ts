export type {
  BlobStore,
  DocumentStore,
  KeyValueStore,
  MemoryStore,
  MemoryTiers,
  QueryStore,
  SessionInfo,
  SessionLease,
  StoredRecord,
  VectorStore,
} from "./contract.js";
export { KvMemoryStore } from "./kv-memory.js";
export { MemoryDocumentStore } from "./memory-documents.js";
export { MemoryStorage } from "./memory-storage.js";
export { SqlDocumentStore } from "./sql-documents.js";
