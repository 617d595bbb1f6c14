import type { BackendPart } from "@shedkit/provider/conformance";

/**
 * What a tiny model has to say (`says` of `tinyGguf` and `tinyOnnx`) to give an answer of these parts, in the format of
 * `tinyChatTemplate`. Throws RangeError for a part that no model can say.
 */
export function localAnswer(parts: readonly BackendPart[]): string[] {
  return pieces(parts.map(written).join("\n"));
}

function written(part: BackendPart): string {
  if (typeof part === "string") return part;
  if ("thinking" in part) return `<think>${part.thinking}</think>`;
  if ("fail" in part) throw new RangeError("A model cannot be made to fail.");
  const args = part.raw ?? JSON.stringify(part.arguments ?? {});
  return `<tool_call>\n{"name": ${JSON.stringify(part.call)}, "arguments": ${args}}\n</tool_call>`;
}

/**
 * Cuts a text into pieces that differ from one another, of eight characters or more. One ends where a call does: a
 * grammar lets no token go beyond it.
 */
function pieces(text: string): string[] {
  const out: string[] = [];
  for (const segment of text.split(/(?<=<\/tool_call>)/)) {
    const own: string[] = [];
    const known = (piece: string) => out.includes(piece) || own.includes(piece);
    let piece = "";
    for (const char of segment) {
      piece += char;
      if (piece.length < 8 || known(piece)) continue;
      own.push(piece);
      piece = "";
    }
    while (piece !== "" && own.length > 0 && (piece.length < 2 || known(piece))) piece = (own.pop() ?? "") + piece;
    if (piece !== "") own.push(piece);
    out.push(...own);
  }
  return out;
}
