/** A place in a grammar: what must come next, and what behind it. The end of a rule is `undefined`. */
export interface Place {
  readonly item: Item;
  readonly next: Place | undefined;
}

/** From one code point to another, both of them in it. */
export type CodeRange = readonly [from: number, to: number];

/** One character, of those in the ranges (or, `negated`, of all others), or one of the ways of a rule. */
export type Item =
  | { readonly type: "char"; readonly ranges: readonly CodeRange[]; readonly negated: boolean }
  | { readonly type: "ways"; ways: readonly (Place | undefined)[] };

const ESCAPES: { readonly [letter: string]: string } = { n: "\n", r: "\r", t: "\t" };
const RULE = /^([a-zA-Z0-9-]+) ::= (.*)$/s;

/** Reads the part of GBNF that our grammars are written in; returns the start of `root`. Throws SyntaxError. */
export function readGbnf(text: string): Place {
  const rules = new Map<string, Item & { type: "ways" }>();
  const rule = (name: string) => {
    let item = rules.get(name);
    if (!item) {
      item = { type: "ways", ways: [] };
      rules.set(name, item);
    }
    return item;
  };
  const written = new Set<string>();
  for (const line of text.split("\n")) {
    const [, name, body] = RULE.exec(line) ?? [];
    if (name === undefined || body === undefined) throw new SyntaxError(`"${line}" is no rule of a grammar`);
    rule(name).ways = new Reader(body, rule).all();
    written.add(name);
  }
  for (const name of rules.keys()) if (!written.has(name)) throw new SyntaxError(`the grammar has no rule "${name}"`);
  return { item: rule("root"), next: undefined };
}

/** Builds what stands before the place that follows it. */
type Build = (next: Place | undefined) => Place | undefined;

class Reader {
  #at = 0;
  readonly #text: string;
  readonly #rule: (name: string) => Item;

  constructor(text: string, rule: (name: string) => Item) {
    this.#text = text;
    this.#rule = rule;
  }

  /** The ways of the whole text. */
  all(): (Place | undefined)[] {
    const ways = this.#ways();
    if (this.#at < this.#text.length) throw this.#error();
    return ways;
  }

  #ways(): (Place | undefined)[] {
    const ways = [this.#sequence()];
    while (this.#skip("|")) ways.push(this.#sequence());
    return ways;
  }

  #sequence(): Place | undefined {
    const parts: Build[] = [];
    for (;;) {
      this.#space();
      const char = this.#text.charAt(this.#at);
      if (char === "" || char === "|" || char === ")") break;
      parts.push(this.#repeated(this.#part()));
    }
    return parts.reduceRight<Place | undefined>((next, build) => build(next), undefined);
  }

  #part(): Build {
    if (this.#skip("(")) {
      const item: Item = { type: "ways", ways: this.#ways() };
      if (!this.#skip(")")) throw this.#error();
      return (next) => ({ item, next });
    }
    if (this.#take('"')) {
      const codes = this.#codes('"').map(({ code }) => code);
      return (next) =>
        codes.reduceRight<Place | undefined>(
          (after, code) => ({ item: { type: "char", ranges: [[code, code]], negated: false }, next: after }),
          next,
        );
    }
    if (this.#take("[")) {
      const item = this.#charClass();
      return (next) => ({ item, next });
    }
    const name = /^[a-zA-Z0-9-]+/.exec(this.#text.slice(this.#at))?.[0];
    if (name === undefined) throw this.#error();
    this.#at += name.length;
    const item = this.#rule(name);
    return (next) => ({ item, next });
  }

  #charClass(): Item {
    const negated = this.#take("^");
    const chars = this.#codes("]");
    const ranges: CodeRange[] = [];
    for (let i = 0; i < chars.length; i++) {
      const from = chars[i]?.code ?? 0;
      const dash = chars[i + 1];
      const to = dash && !dash.escaped && dash.code === 45 ? chars[i + 2]?.code : undefined;
      if (to !== undefined) i += 2;
      ranges.push([from, to ?? from]);
    }
    return { type: "char", ranges, negated };
  }

  #repeated(part: Build): Build {
    if (this.#take("?")) return times(part, 0, 1);
    if (this.#take("*")) return times(part, 0, undefined);
    if (this.#take("+")) return times(part, 1, undefined);
    const count = /^\{(\d+)(,?)(\d*)\}/.exec(this.#text.slice(this.#at));
    if (!count) return part;
    this.#at += count[0].length;
    const min = Number(count[1]);
    return times(part, min, count[2] === "" ? min : count[3] === "" ? undefined : Number(count[3]));
  }

  #codes(end: string): { code: number; escaped: boolean }[] {
    const codes: { code: number; escaped: boolean }[] = [];
    while (this.#at < this.#text.length) {
      const code = this.#text.codePointAt(this.#at) ?? 0;
      this.#at += code > 0xffff ? 2 : 1;
      if (code === end.charCodeAt(0)) return codes;
      codes.push(code === 0x5c ? { code: this.#escaped(), escaped: true } : { code, escaped: false });
    }
    throw this.#error();
  }

  #escaped(): number {
    const letter = this.#text.charAt(this.#at++);
    if (letter !== "x") return (ESCAPES[letter] ?? letter).charCodeAt(0);
    this.#at += 2;
    return Number.parseInt(this.#text.slice(this.#at - 2, this.#at), 16);
  }

  #take(char: string): boolean {
    if (this.#text.charAt(this.#at) !== char) return false;
    this.#at++;
    return true;
  }

  #skip(char: string): boolean {
    this.#space();
    return this.#take(char);
  }

  #space(): void {
    while (this.#text.charAt(this.#at) === " ") this.#at++;
  }

  #error(): SyntaxError {
    return new SyntaxError(`the rule "${this.#text}" cannot be read at ${this.#at}`);
  }
}

function times(part: Build, min: number, max: number | undefined): Build {
  return (next) => {
    let rest: Place | undefined = next;
    if (max === undefined) {
      const item: Item = { type: "ways", ways: [] };
      const again: Place = { item, next: undefined };
      item.ways = [part(again), undefined];
      rest = { item, next };
    } else if (max > min) {
      let more: Place | undefined;
      for (let i = min; i < max; i++) more = { item: { type: "ways", ways: [part(more), undefined] }, next: undefined };
      rest = more && { ...more, next };
    }
    for (let i = 0; i < min; i++) rest = part(rest);
    return rest;
  };
}
