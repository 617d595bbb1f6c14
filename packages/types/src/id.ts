/** The key of a session. Ids made by {@link newSessionId} sort by time. */
export type SessionId = string & { readonly __brand: "SessionId" };

/** Where an id takes its time and randomness from. */
export interface IdSource {
  /** Milliseconds since the epoch. Default: `Date.now`. */
  now?: (() => number) | undefined;
  /** Fills the array with random bytes. Default: `crypto.getRandomValues`. */
  random?: ((bytes: Uint8Array<ArrayBuffer>) => void) | undefined;
}

const BASE_32 = "0123456789abcdefghjkmnpqrstvwxyz"; // Crockford's, as in ULID: sorts like the numbers it writes
const BASE_62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"; // likewise

/**
 * A new unique id of 26 characters: 48 bits of time, 80 random bits, in base 32 (the layout of ULID).
 * Ids made by one process sort in the order in which they were made, also within a millisecond.
 */
export const newId: (source?: IdSource) => string = /* @__PURE__ */ idMaker(BASE_32, 10, 16);

/**
 * A new id for what is one of many in a session: a record, a message, a step. Of 16 characters, which take a third less
 * memory: time and 47 random bits, in base 62. Sorts by time as {@link newId}'s do, and behind those.
 */
export const newRecordId: (source?: IdSource) => string = /* @__PURE__ */ idMaker(BASE_62, 8, 8);

/** A new session id; see {@link newId}. */
export function newSessionId(source: IdSource = {}): SessionId {
  return newId(source) as SessionId;
}

/** Makes ids of so many digits of time, then so many random ones. */
function idMaker(alphabet: string, timeLength: number, randomLength: number): (source?: IdSource) => string {
  const base = alphabet.length;
  let lastTime = -1;
  const lastRandom = new Uint8Array(randomLength); // one digit a byte
  const codes: number[] = new Array(timeLength + randomLength).fill(0); // of the id being made

  /** Ids made in one millisecond differ in their last digits: the others are not written again. */
  const setDigit = (i: number, digit: number): void => {
    lastRandom[i] = digit;
    codes[timeLength + i] = alphabet.charCodeAt(digit);
  };
  const writeTime = (): void => {
    for (let rest = lastTime, i = timeLength - 1; i >= 0; i--, rest = Math.floor(rest / base)) {
      codes[i] = alphabet.charCodeAt(rest % base);
    }
  };
  /** Adds one; false when every digit was at its highest, and is 0 now. */
  const increment = (): boolean => {
    for (let i = randomLength - 1; i >= 0; i--) {
      const digit = lastRandom[i] ?? 0;
      if (digit < base - 1) {
        setDigit(i, digit + 1);
        return true;
      }
      setDigit(i, 0);
    }
    return false;
  };
  return (source = {}) => {
    const now = (source.now ?? Date.now)();
    if (now > lastTime) {
      lastTime = now;
      (source.random ?? fillFromPool)(lastRandom);
      for (let i = 0; i < randomLength; i++) setDigit(i, (lastRandom[i] ?? 0) % base);
      writeTime();
    } else if (!increment()) {
      lastTime += 1; // all digits are 0 now: the next millisecond is taken early
      writeTime();
    }
    // Made in one piece: a string that was put together character by character takes eight times the memory.
    return String.fromCharCode(...codes);
  };
}

/** Asking for random bytes costs the same for one id as for many. */
const pool = new Uint8Array(1024);
let poolAt = pool.length;

function fillFromPool(bytes: Uint8Array<ArrayBuffer>): void {
  if (poolAt + bytes.length > pool.length) {
    crypto.getRandomValues(pool);
    poolAt = 0;
  }
  bytes.set(pool.subarray(poolAt, poolAt + bytes.length));
  poolAt += bytes.length;
}
