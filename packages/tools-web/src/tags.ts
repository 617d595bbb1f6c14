/** A piece of a page. */
export type Token =
  | { type: "text"; text: string }
  | { type: "open"; name: string; attributes: string }
  | { type: "close"; name: string };

/** What holds no elements, up to its own end. */
const RAW = new Set("script style textarea title xmp iframe noembed noframes noscript plaintext".split(" "));

/**
 * Takes a page apart, as a browser's tokenizer does: quotes count only behind `=`, comments and declarations are passed
 * over, the contents of scripts and the like too. In time proportional to the page.
 */
export function* tokensOf(page: string): Generator<Token, void, void> {
  let at = 0;
  while (at < page.length) {
    const tag = page.indexOf("<", at);
    if (tag < 0) break;
    if (tag > at) yield { type: "text", text: page.slice(at, tag) };
    const next = page[tag + 1] ?? "";
    if (next === "!" || next === "?") at = endOfOther(page, tag);
    else if (/[a-z]/i.test(next) || (next === "/" && /[a-z]/i.test(page[tag + 2] ?? ""))) {
      const end = endOfTag(page, tag + 1);
      if (end === undefined) return; // a tag that does not end is none, nor is what follows it
      const close = next === "/";
      const [, name = "", attributes = ""] = /^([^\s/]+)([\s\S]*)$/.exec(page.slice(tag + (close ? 2 : 1), end)) ?? [];
      const lower = name.toLowerCase();
      at = end + 1;
      if (close) yield { type: "close", name: lower };
      else if (RAW.has(lower)) at = endOfRaw(page, lower, at);
      else yield { type: "open", name: lower, attributes };
    } else {
      yield { type: "text", text: "&lt;" };
      at = tag + 1;
    }
  }
  if (at < page.length) yield { type: "text", text: page.slice(at) };
}

/** Where the `>` of a tag stands. */
function endOfTag(page: string, start: number): number | undefined {
  for (let i = start; i < page.length; i++) {
    const character = page[i];
    if (character === ">") return i;
    if (character !== "=") continue;
    let value = i + 1;
    while (/\s/.test(page[value] ?? "")) value++;
    const quote = page[value];
    if (quote !== '"' && quote !== "'") continue;
    const end = page.indexOf(quote, value + 1);
    if (end < 0) return undefined;
    i = end;
  }
  return undefined;
}

/** The end of a comment, a declaration and the like. */
function endOfOther(page: string, start: number): number {
  if (page.startsWith("<!--", start)) {
    if (/^>|^->/.test(page.slice(start + 4, start + 6))) return page.indexOf(">", start) + 1;
    const end = page.indexOf("-->", start + 4);
    return end < 0 ? page.length : end + 3;
  }
  const end = page.indexOf(">", start);
  return end < 0 ? page.length : end + 1;
}

function endOfRaw(page: string, name: string, from: number): number {
  const end = new RegExp(`</${name}(?=[\\s/>])`, "gi");
  end.lastIndex = from;
  const found = end.exec(page);
  return found ? (endOfTag(page, found.index + 1) ?? page.length) + 1 : page.length;
}

/** The value of an attribute, entities and all: `""` where it has none, undefined where the attribute is not there. */
export function attributeOf(attributes: string, name: string): string | undefined {
  if (!attributes.toLowerCase().includes(name)) return undefined;
  for (let at = endOf(/[\s/]*/y, attributes, 0); at < attributes.length; ) {
    const nameEnd = endOf(/=?[^\s/=]*/y, attributes, at);
    const isIt = attributes.slice(at, nameEnd).toLowerCase() === name;
    const valueAt = endOf(/\s*=\s*/y, attributes, nameEnd);
    const valueEnd = valueAt === nameEnd ? nameEnd : endOf(/"[^"]*"?|'[^']*'?|[^\s]*/y, attributes, valueAt);
    if (isIt) return attributes.slice(valueAt, valueEnd).replace(/^(["'])([\s\S]*?)\1?$/, "$2");
    at = endOf(/[\s/]*/y, attributes, valueEnd);
  }
  return undefined;
}

/** Where something ends that begins at a place; that place itself where it does not begin there. */
function endOf(what: RegExp, text: string, at: number): number {
  what.lastIndex = at;
  return what.test(text) ? what.lastIndex : at;
}
