export { checkKey, compareKeys } from "./keys.js";
export { LeaseQueue } from "./lease-queue.js";
export { infoAfter, newestFirst, pageOf, readCursor, type SessionCursor, writeCursor } from "./listing.js";
export { pause } from "./pause.js";
export { hasText, scoreText, textOfRecord, titleOf, wordsOf } from "./record-text.js";
export { SqlKeyValues } from "./sql/key-values.js";
export { migrate } from "./sql/migrate.js";
export { busyError, cancelledError, closedError, storeError, versionError } from "./store-error.js";
