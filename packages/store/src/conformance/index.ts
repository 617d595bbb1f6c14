export type { StoreCase } from "./case.js";
export { documentStoreCases } from "./documents.js";
export { keyValueStoreCases } from "./key-values.js";
export { memoryStoreCases } from "./memories.js";
