/** What is left of a JSON text, and the text of the member that was cut out. */
export interface Cut {
  rest: string;
  value: string;
}

/**
 * Cuts a member out of the object that a text holds, and leaves every other character as it is: long integers keep
 * their digits, and what is wrong elsewhere stays for others to see. Where the object has no such member, it is looked for in
 * an object (or the text of one) that stands under one of the keys of `within`, three deep. Undefined where there is none, or
 * where the text breaks off. Looks at each character once a level.
 */
export function cutMember(text: string, name: string, within: readonly string[] = [], levels = 3): Cut | undefined {
  if (!text.includes(name)) return undefined;
  const start = text.search(/["{]/);
  if (text[start] !== '"') return cutFrom(text, name, start, within, levels);
  const inner = unquoted(text); // an object that was written as a text once more
  const cut = inner === undefined ? undefined : cutFrom(inner, name, inner.indexOf("{"), within, levels);
  return cut && { ...cut, rest: JSON.stringify(cut.rest) };
}

function unquoted(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

interface Member {
  key: string;
  /** From its name to the comma behind it, that included, or to where the object ends. */
  from: number;
  to: number;
  colon: number;
  value: string;
}

function cutFrom(text: string, name: string, open: number, within: readonly string[], levels: number): Cut | undefined {
  const members = open < 0 ? undefined : membersOf(text, new Set([name, ...within]), open);
  const own = members?.filter(({ key }) => key === name) ?? [];
  const last = own.at(-1);
  if (last === undefined) return cutInside(text, name, members ?? [], within, levels);
  let rest = "";
  let at = 0;
  for (const { from, to } of own) {
    rest += text.slice(at, from);
    at = to;
  }
  // The comma before a member that was the last is one too many.
  if (text[last.to - 1] !== ",") rest = rest.replace(/,\s*$/, "");
  return { rest: rest + text.slice(at), value: last.value };
}

function cutInside(
  text: string,
  name: string,
  members: readonly Member[],
  within: readonly string[],
  levels: number,
): Cut | undefined {
  if (levels === 0) return undefined;
  for (const { value, colon } of members) {
    if (!/^["{]/.test(value)) continue;
    const cut = cutMember(value, name, within, levels - 1);
    if (cut === undefined) continue;
    const at = text.indexOf(value, colon);
    return { ...cut, rest: text.slice(0, at) + cut.rest + text.slice(at + value.length) };
  }
  return undefined;
}

/** The members of those names. Undefined where the object does not end. */
function membersOf(text: string, names: ReadonlySet<string>, open: number): Member[] | undefined {
  const members: Member[] = [];
  let depth = 0;
  let from = 0; // where the member begins, of which the colon has been seen
  let colon = -1;
  let name = "";
  let key: [from: number, to: number] | undefined;
  for (let at = open; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      const end = endOfString(text, at);
      if (end < 0) return undefined;
      if (depth === 1 && colon < 0) key = [at, end];
      at = end;
    } else if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]") {
      depth--;
      if (depth > 0) continue;
      if (colon >= 0) members.push({ key: name, from, to: at, colon, value: text.slice(colon + 1, at).trim() });
      return members;
    } else if (depth === 1 && char === ":" && colon < 0 && key !== undefined) {
      name = text.slice(key[0] + 1, key[1]);
      if (names.has(name)) [from, colon] = [key[0], at];
    } else if (depth === 1 && char === ",") {
      if (colon >= 0) members.push({ key: name, from, to: at + 1, colon, value: text.slice(colon + 1, at).trim() });
      colon = -1;
      key = undefined;
    }
  }
  return undefined;
}

/** Where the closing quotation mark stands; -1 where there is none. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return -1;
}
