/** The key of a session. Ids made by {@link newSessionId} sort by time. */
export type SessionId = string & { readonly __brand: "SessionId" };

/** Where an id takes its time and randomness from. */
export interface IdSource {
  /** Milliseconds since the epoch. Default: `Date.now`. */
  now?: (() => number) | undefined;
  /** Fills the array with random bytes. Default: `crypto.getRandomValues`. */
  random?: ((bytes: Uint8Array<ArrayBuffer>) => void) | undefined;
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"; // Crockford base 32, as in ULID: sorts like the numbers it writes
const TIME_LENGTH = 10;
const RANDOM_LENGTH = 16;

let lastTime = -1;
const lastRandom = new Uint8Array(RANDOM_LENGTH); // one base-32 digit a byte
const codes: number[] = new Array(TIME_LENGTH + RANDOM_LENGTH).fill(0); // of the id being made

/**
 * A new unique id of 26 characters: 48 bits of time, 80 random bits, in base 32 (the layout of ULID).
 * Ids made by one process sort in the order in which they were made, also within a millisecond.
 */
export function newId(source: IdSource = {}): string {
  const now = (source.now ?? Date.now)();
  if (now > lastTime) {
    lastTime = now;
    (source.random ?? fillFromPool)(lastRandom);
    for (let i = 0; i < RANDOM_LENGTH; i++) setDigit(i, (lastRandom[i] ?? 0) & 31);
    writeTime();
  } else if (!increment()) {
    lastTime += 1; // all digits are 0 now: the next millisecond is taken early
    writeTime();
  }
  // Made in one piece: a string that was put together character by character takes eight times the memory.
  return String.fromCharCode(...codes);
}

/** A new session id; see {@link newId}. */
export function newSessionId(source: IdSource = {}): SessionId {
  return newId(source) as SessionId;
}

/** Asking for random bytes costs the same for one id as for many. */
const pool = new Uint8Array(RANDOM_LENGTH * 64);
let poolAt = pool.length;

function fillFromPool(bytes: Uint8Array<ArrayBuffer>): void {
  if (poolAt === pool.length) {
    crypto.getRandomValues(pool);
    poolAt = 0;
  }
  bytes.set(pool.subarray(poolAt, poolAt + RANDOM_LENGTH));
  poolAt += RANDOM_LENGTH;
}

/** Adds one; false when every digit was at its highest, and is 0 now. */
function increment(): boolean {
  for (let i = RANDOM_LENGTH - 1; i >= 0; i--) {
    const digit = lastRandom[i] ?? 0;
    setDigit(i, (digit + 1) & 31);
    if (digit < 31) return true;
  }
  return false;
}

/** Ids made in one millisecond differ in their last digits: the others are not written again. */
function setDigit(i: number, digit: number): void {
  lastRandom[i] = digit;
  codes[TIME_LENGTH + i] = ALPHABET.charCodeAt(digit);
}

function writeTime(): void {
  for (let rest = lastTime, i = TIME_LENGTH - 1; i >= 0; i--, rest = Math.floor(rest / 32)) {
    codes[i] = ALPHABET.charCodeAt(rest % 32);
  }
}
