/** A line of a file. Only the last may have no end. */
export interface Line {
  text: string;
  end: "" | "\n" | "\r\n";
}

/** The lines of a text. What follows the last line feed is one only if there is something. */
export function linesOf(text: string): Line[] {
  const pieces = text.split("\n");
  const last = pieces.pop() ?? "";
  const lines = pieces.map((piece): Line => {
    const crlf = piece.endsWith("\r");
    return { text: crlf ? piece.slice(0, -1) : piece, end: crlf ? "\r\n" : "\n" };
  });
  if (last !== "") lines.push({ text: last, end: "" });
  return lines;
}

/** What can be sent of a text: what stands for bytes that are no text, half characters, is shown as U+FFFD. */
export function shownText(text: string): string {
  const self = text as unknown as { isWellFormed(): boolean; toWellFormed(): string }; // ES2024, in Node since 20
  return self.isWellFormed() ? text : self.toWellFormed();
}

export function textOf(lines: readonly Line[]): string {
  return lines.map(({ text, end }) => text + end).join("");
}

/** The lines of what a model wrote: a line end at its end ends the last, and begins none. Empty: none at all. */
export function contentLines(content: string): string[] {
  if (content === "") return [];
  const lines = content.split("\n").map(withoutReturns);
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  return lines;
}

function withoutReturns(line: string): string {
  let end = line.length;
  while (end > 0 && line.charCodeAt(end - 1) === 13) end--;
  return line.slice(0, end);
}
