export { blobStoreCases } from "./blobs.js";
export type { StoreCase } from "./case.js";
export { checkAfterKill, writeUntilKilled } from "./crash.js";
export { documentStoreCases } from "./documents.js";
export { keyValueStoreCases } from "./key-values.js";
export { memoryStoreCases } from "./memories.js";
export { queryStoreCases } from "./queries.js";
export { reopeningDocumentCases, reopeningKeyValueCases } from "./reopening.js";
export { vectorStoreCases } from "./vectors.js";
