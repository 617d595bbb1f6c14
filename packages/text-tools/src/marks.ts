/** The length of the longest end of `text` that is a beginning of `mark`, but not all of it. */
export function overlap(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}

/** Whether more text could make `text` begin with `mark`. */
export function mayBecome(text: string, mark: string): boolean {
  return text.length < mark.length && mark.startsWith(text);
}

/** The first place of any of the marks in `text`; of two at one place the longer. */
export function firstMark(text: string, marks: readonly string[]): { at: number; mark: string } | undefined {
  let first: { at: number; mark: string } | undefined;
  for (const mark of marks) {
    const at = text.indexOf(mark);
    if (at < 0 || (first && (at > first.at || (at === first.at && mark.length < first.mark.length)))) continue;
    first = { at, mark };
  }
  return first;
}
