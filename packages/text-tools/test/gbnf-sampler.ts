import fc from "fast-check";

/** A small reader of GBNF that makes texts the grammar accepts: what our grammars use, nothing more. */
type Node =
  | { type: "literal"; text: string }
  | { type: "class"; chars: string[] }
  | { type: "rule"; name: string }
  | { type: "sequence"; items: Node[] }
  | { type: "choice"; items: Node[] }
  | { type: "repeat"; item: Node; min: number; max: number };

const ESCAPES: { [letter: string]: string } = { n: "\n", r: "\r", t: "\t" };
const MANY = 2 ** 30;
const SOME_CHARS = [..."abXYZ09 _-.,:;{}[]()<>/&é世😀"];

export function parseGbnf(text: string): Map<string, Node> {
  const rules = new Map<string, Node>();
  for (const line of text.split("\n")) {
    const [name = "", body = ""] = line.split(/ ::= (.*)/s);
    rules.set(name, new Reader(body).choice());
  }
  return rules;
}

class Reader {
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  choice(): Node {
    const items = [this.#sequence()];
    while (this.#skip("|")) items.push(this.#sequence());
    return items.length === 1 ? (items[0] as Node) : { type: "choice", items };
  }

  #sequence(): Node {
    const items: Node[] = [];
    for (;;) {
      this.#space();
      const char = this.#text.charAt(this.#at);
      if (char === "" || char === "|" || char === ")") return { type: "sequence", items };
      items.push(this.#repeated(this.#item()));
    }
  }

  #item(): Node {
    if (this.#skip("(")) {
      const inner = this.choice();
      if (!this.#skip(")")) throw new Error(`no ) at ${this.#at} in ${this.#text}`);
      return inner;
    }
    if (this.#skip('"')) return { type: "literal", text: this.#until('"').join("") };
    if (this.#skip("[")) return this.#class();
    const name = /^[a-zA-Z0-9-]+/.exec(this.#text.slice(this.#at))?.[0];
    if (!name) throw new Error(`nothing at ${this.#at} in ${this.#text}`);
    this.#at += name.length;
    return { type: "rule", name };
  }

  #class(): Node {
    const negated = this.#skip("^");
    const chars = this.#until("]");
    const within: string[] = [];
    for (let i = 0; i < chars.length; i++) {
      const from = (chars[i] as string).codePointAt(0) ?? 0;
      const to = chars[i + 1] === "-" && i + 2 < chars.length ? ((chars[i + 2] as string).codePointAt(0) ?? 0) : from;
      if (to !== from) i += 2;
      for (let code = from; code <= to; code++) within.push(String.fromCodePoint(code));
    }
    return { type: "class", chars: negated ? SOME_CHARS.filter((char) => !within.includes(char)) : within };
  }

  #until(end: string): string[] {
    const chars: string[] = [];
    for (;;) {
      const char = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
      this.#at += char.length;
      if (char === end) return chars;
      if (char !== "\\") chars.push(char);
      else {
        const letter = this.#text.charAt(this.#at++);
        if (letter === "x") {
          chars.push(String.fromCharCode(Number.parseInt(this.#text.slice(this.#at, this.#at + 2), 16)));
          this.#at += 2;
        } else chars.push(ESCAPES[letter] ?? letter);
      }
    }
  }

  #repeated(item: Node): Node {
    if (this.#skip("?")) return { type: "repeat", item, min: 0, max: 1 };
    if (this.#skip("*")) return { type: "repeat", item, min: 0, max: 4 };
    if (this.#skip("+")) return { type: "repeat", item, min: 1, max: 4 };
    const count = /^\{(\d+)(,?)(\d*)\}/.exec(this.#text.slice(this.#at));
    if (!count) return item;
    this.#at += count[0].length;
    const min = Number(count[1]);
    return { type: "repeat", item, min, max: count[3] ? Number(count[3]) : count[2] ? min + 4 : min };
  }

  #skip(char: string): boolean {
    const from = this.#at;
    if (!/[?*+{^"]/.test(char)) this.#space();
    if (this.#text.charAt(this.#at) === char) {
      this.#at++;
      return true;
    }
    this.#at = from;
    return false;
  }

  #space(): void {
    while (this.#text.charAt(this.#at) === " ") this.#at++;
  }
}

/** Texts that the grammar accepts. Deep down, the shortest ways are taken, so that recursion ends. */
export function accepted(grammar: string): fc.Arbitrary<string> {
  const rules = parseGbnf(grammar);
  return fc.noBias(fc.infiniteStream(fc.nat(MANY - 1))).map((numbers) => {
    let out = "";
    let steps = 0;
    const pick = (count: number) => Math.floor(((numbers.next().value as number) / MANY) * count);
    const walk = (node: Node, depth: number): void => {
      if (++steps > 20_000) throw new Error("the grammar does not end");
      switch (node.type) {
        case "literal":
          out += node.text;
          break;
        case "class":
          out += node.chars[pick(node.chars.length)] ?? "";
          break;
        case "rule": {
          const rule = rules.get(node.name);
          if (!rule) throw new Error(`no rule ${node.name}`);
          walk(rule, depth + 1);
          break;
        }
        case "sequence":
          for (const item of node.items) walk(item, depth);
          break;
        case "choice":
          walk(node.items[depth > 24 ? node.items.length - 1 : pick(node.items.length)] as Node, depth);
          break;
        case "repeat": {
          const count = depth > 24 ? node.min : node.min + pick(node.max - node.min + 1);
          for (let i = 0; i < count; i++) walk(node.item, depth);
        }
      }
    };
    walk({ type: "rule", name: "root" }, 0);
    return out;
  });
}
