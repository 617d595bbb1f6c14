import { type CallEvent, readArguments } from "./call-events.js";

/** Calls as Python writes them, in a list: `[name(key="value", n=3)]`. */
export interface PythonCalls {
  calls: CallEvent[];
  /** The text ended inside the list: the last call is not whole. */
  brokeOff: boolean;
}

/** The calls that the whole text is; undefined where it is something else, or ends before the first name does. */
export function pythonCalls(text: string): PythonCalls | undefined {
  return new Reader(text).calls();
}

const CONSTANTS: { readonly [name: string]: string } = {
  True: "true",
  False: "false",
  None: "null",
  true: "true",
  false: "false",
  null: "null",
};
const ESCAPES: { readonly [letter: string]: string } = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f", "0": "\0" };
const MAX_DEPTH = 64;

/** Thrown where the text is not what it has to be; the text's end is told apart by its place. */
class Wrong extends Error {}

class Reader {
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  calls(): PythonCalls | undefined {
    const calls: CallEvent[] = [];
    let begun: { name: string; start: number } | undefined;
    try {
      this.#expect("[");
      do {
        const name = this.#match(/[a-zA-Z_][\w.-]*/y);
        this.#expect("(");
        begun = { name, start: this.#at };
        calls.push({ type: "call", name, ...readArguments(this.#arguments()) });
        begun = undefined;
      } while (this.#skip(","));
      this.#expect("]");
      this.#space();
      return this.#at === this.#text.length ? { calls, brokeOff: false } : undefined;
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      if (this.#at < this.#text.length || (calls.length === 0 && !begun)) return undefined;
      if (begun) calls.push({ type: "call", name: begun.name, rawArguments: this.#text.slice(begun.start) });
      return { calls, brokeOff: true };
    }
  }

  /** Up to the closing bracket, as the JSON of an object. */
  #arguments(): string {
    const members: string[] = [];
    while (!this.#skip(")")) {
      const key = this.#match(/[a-zA-Z_]\w*/y);
      this.#expect("=");
      members.push(`${JSON.stringify(key)}: ${this.#value(0)}`);
      if (this.#skip(",")) continue;
      this.#expect(")");
      break;
    }
    return `{${members.join(", ")}}`;
  }

  #value(depth: number): string {
    if (depth > MAX_DEPTH) throw new Wrong();
    this.#space();
    const char = this.#text.charAt(this.#at);
    if (char === '"' || char === "'") return JSON.stringify(this.#string(char));
    if (this.#skip("[")) return `[${this.#items("]", () => this.#value(depth + 1))}]`;
    if (this.#skip("(")) return `[${this.#items(")", () => this.#value(depth + 1))}]`;
    if (this.#skip("{")) {
      const member = () => {
        this.#space();
        const key = this.#string(this.#text.charAt(this.#at));
        this.#expect(":");
        return `${JSON.stringify(key)}: ${this.#value(depth + 1)}`;
      };
      return `{${this.#items("}", member)}}`;
    }
    const word = this.#match(/-?[\w.+-]+/y);
    const json = CONSTANTS[word] ?? word;
    if (this.#at === this.#text.length || !/^(-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?|true|false|null)$/.test(json)) {
      throw new Wrong();
    }
    return json;
  }

  #items(close: string, item: () => string): string {
    const items: string[] = [];
    while (!this.#skip(close)) {
      items.push(item());
      if (this.#skip(",")) continue;
      this.#expect(close);
      break;
    }
    return items.join(", ");
  }

  #string(quote: string): string {
    if (quote !== '"' && quote !== "'") throw new Wrong();
    let out = "";
    for (this.#at++; this.#at < this.#text.length; this.#at++) {
      const char = this.#text.charAt(this.#at);
      if (char === quote) {
        this.#at++;
        return out;
      }
      out += char === "\\" ? this.#escaped() : char;
    }
    throw new Wrong();
  }

  #escaped(): string {
    const letter = this.#text.charAt(++this.#at);
    const digits = letter === "x" ? 2 : letter === "u" ? 4 : 0;
    if (digits === 0) return ESCAPES[letter] ?? letter;
    const code = this.#text.slice(this.#at + 1, this.#at + 1 + digits);
    this.#at = Math.min(this.#at + digits, this.#text.length);
    if (code.length < digits || !/^[0-9a-fA-F]+$/.test(code)) throw new Wrong();
    return String.fromCharCode(Number.parseInt(code, 16));
  }

  #match(pattern: RegExp): string {
    this.#space();
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw new Wrong();
    this.#at += found.length;
    return found;
  }

  #expect(char: string): void {
    if (!this.#skip(char)) throw new Wrong();
  }

  #skip(char: string): boolean {
    this.#space();
    if (this.#text.charAt(this.#at) !== char) return false;
    this.#at++;
    return true;
  }

  #space(): void {
    while (/\s/.test(this.#text.charAt(this.#at))) this.#at++;
  }
}
