export { JsonFileDocumentStore, type Recovery } from "./documents.js";
export { JsonFileStorage } from "./storage.js";
