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
} from "./contract.js";
