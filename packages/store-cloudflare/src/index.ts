export type { D1Binding, D1Statement, R2Binding } from "./bindings.js";
export { type D1HttpOptions, type D1Options, D1Store } from "./d1-store.js";
export { D1R2DocumentStore } from "./documents.js";
export { type R2S3Options, R2Store } from "./r2-store.js";
