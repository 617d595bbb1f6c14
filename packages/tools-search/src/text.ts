/** `1234567` -> `"1,234,567"`. */
function count(n: number): string {
  return String(n).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `(1, "line")` -> `"1 line"`, `(3, "line")` -> `"3 lines"`. */
export function plural(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
}
