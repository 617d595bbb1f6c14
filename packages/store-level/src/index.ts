export { LevelDocumentStore } from "./documents.js";
export { LevelStorage } from "./storage.js";
