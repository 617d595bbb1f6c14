/** `1234567` -> `"1,234,567"`. */
export function count(n: number): string {
  return String(n).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `(1, "line")` -> `"1 line"`, `(3, "line")` -> `"3 lines"`. */
export function plural(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/** `[1, 2, 3]` -> `"1, 2 and 3"`; of many the first ten, then how many more. `total`: how many there are, if these are not all. */
export function enumerate(items: readonly (string | number)[], total = items.length): string {
  const most = 10;
  if (total > most) return `${items.slice(0, most).join(", ")} and ${count(total - most)} more`;
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

/** Where a piece of a text ends that begins at a place: no character is cut in half. */
export function pieceEnd(text: string, start: number, most: number): number {
  const end = Math.min(start + most, text.length);
  return end < text.length && /[\ud800-\udbff]/.test(text[end - 1] ?? "") ? end - 1 : end;
}

/** A text that can be sent: bytes of a file that are no text are shown as U+FFFD. */
export function shownText(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

/** Lines with the number before the first and before every tenth. */
export function numbered(text: string, first: number): string {
  const lines = text.split("\n");
  return lines.map((line, i) => (i === 0 || (first + i) % 10 === 0 ? `${first + i}→${line}` : line)).join("\n");
}
