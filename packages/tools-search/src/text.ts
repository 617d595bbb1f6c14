/** `1234567` -> `"1,234,567"`. */
function count(n: number): string {
  return String(n).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `(1, "line")` -> `"1 line"`, `(3, "line")` -> `"3 lines"`. */
export function plural(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/** A path for a line of its own: one with a line end or what is not seen in it must not pass for something else. */
export function shownPath(path: string): string {
  if (!/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(path)) return path;
  return JSON.stringify(path).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
