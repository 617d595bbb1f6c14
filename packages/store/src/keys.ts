import { AgenticError } from "@shedkit/types";

/**
 * Throws AgenticError `store` for a key or session id that not every storage can hold: U+0000, or half of a surrogate
 * pair. Every other text is a key.
 */
export function checkKey(key: string, store: string, operation: string): void {
  if (!/\p{Surrogate}/u.test(key) && !key.includes("\u0000")) return;
  throw new AgenticError(
    "store",
    `${JSON.stringify(key)} cannot be a key: it holds U+0000 or half of a surrogate pair. Take those out.`,
    { store, operation },
  );
}

/** The order of keys: by code point, as the bytes of UTF-8 sort. (`<` on strings puts U+FFFD after U+1F600.) */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** Surrogates, which stand for what is above U+FFFF, go last. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
