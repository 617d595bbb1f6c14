import { SqlDocumentStore } from "@shedkit/store";
import type { D1Store } from "./d1-store.js";
import type { R2Store } from "./r2-store.js";

/** D1 takes two megabytes a row: what is longer than this, in characters, lies in R2. */
const INLINE_LENGTH = 100_000;

/**
 * Session logs in D1, with long records in R2. In a Worker make one for each request: what a request began (a timer, a
 * promise) ends with it.
 *
 * `close()` gives back the leases.
 */
export class D1R2DocumentStore extends SqlDocumentStore<D1Store> {
  constructor(d1: D1Store, r2: R2Store) {
    super(d1, { blobs: r2, inlineLength: INLINE_LENGTH });
  }
}
