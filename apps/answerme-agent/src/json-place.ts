/** The line, from 1, of a place in a text. */
export function lineAt(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}

/** The line of a field in a JSON text, by the names that lead to it; of the last of them that is there. */
export function lineOf(text: string, path: readonly string[]): number {
  let depth = 0;
  let found = 0;
  let position = 0;
  for (const { 0: token, 1: colon, index } of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (colon !== undefined && depth === found + 1 && nameOf(token, colon) === path[found]) {
      position = index;
      found++;
      if (found === path.length) break;
    }
  }
  return lineAt(text, position);
}

function nameOf(token: string, colon: string): unknown {
  return JSON.parse(token.slice(0, token.length - colon.length));
}
