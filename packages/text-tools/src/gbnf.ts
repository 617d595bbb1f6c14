/** Collects the rules of a GBNF grammar. */
export class GbnfRules {
  readonly #rules = new Map<string, string>();

  get size(): number {
    return this.#rules.size;
  }

  /** Adds a rule under a name like `hint` that is still free; returns the name. */
  add(hint: string, body: string): string {
    const name = this.reserve(hint);
    this.#rules.set(name, body);
    return name;
  }

  /** Takes a name whose rule comes later, for rules that name themselves. */
  reserve(hint: string): string {
    const base = hint.replace(/[^a-zA-Z0-9]+/g, "-").replace(/^-+|-+$/g, "") || "rule";
    let name = base;
    for (let i = 2; this.#rules.has(name); i++) name = `${base}-${i}`;
    this.#rules.set(name, "");
    return name;
  }

  set(name: string, body: string): void {
    this.#rules.set(name, body);
  }

  has(name: string): boolean {
    return this.#rules.has(name);
  }

  /** The grammar as text, `root` first. */
  text(root: string): string {
    const lines = Array.from(this.#rules, ([name, body]) => `${name} ::= ${body}`);
    return [`root ::= ${root}`, ...lines].join("\n");
  }
}

/** A text as a GBNF literal. */
export function literal(text: string): string {
  const escaped = text.replace(/["\\\n\r\t]/g, (char) => ESCAPES[char] ?? char);
  return `"${escaped}"`;
}

const ESCAPES: { [char: string]: string } = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** `item` from `min` to `max` times; without `max`, any number of times from `min`. */
export function repeated(item: string, min: number, max: number | undefined): string {
  if (max === undefined) return min === 0 ? `${item}*` : min === 1 ? `${item}+` : `${item}{${min},}`;
  return `${item}{${min},${max}}`;
}
