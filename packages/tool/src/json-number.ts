/**
 * What a number that is written as text comes to: a double that says the same; a bigint for a whole number that no
 * double holds; undefined where neither would (it is too large, too long, or of more digits than a double has).
 * Digits after the point are rounded as any double rounds them, as long as the whole part is not.
 */
export function exactNumber(text: string): number | bigint | undefined {
  const value = Number(text);
  if (Number.isNaN(value)) return undefined;
  if (Math.abs(value) < FIRST_INEXACT) return value;
  if (text.length > MAX_DIGITS) return undefined;
  const written = wholeOf(text);
  if (written === undefined) return undefined;
  if (Number.isFinite(value)) {
    // With a point or an exponent it is a measure, which the shortest text of the double stands for.
    const same = BARE.test(text) ? BigInt(value) === written : wholeOf(String(value)) === written;
    if (same) return value;
  } else if (!BARE.test(text)) return undefined;
  return written;
}

const FIRST_INEXACT = 2 ** 53;
const MAX_DIGITS = 1000; // nobody's number, and slow to convert
const BARE = /^[+-]?\d+$/;
const PARTS = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;

/** The number as a whole one; undefined where it is none, or far larger than any double. */
function wholeOf(text: string): bigint | undefined {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = PARTS.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/0+$/, "");
  const zeros = Number(exponent) - fraction.length + (whole.length + fraction.length - digits.length);
  if (digits === "" || zeros < 0 || zeros > MAX_DIGITS) return undefined;
  const size = BigInt(digits) * 10n ** BigInt(zeros);
  return sign === "-" ? -size : size;
}
