import type { JsonValue } from "@shedkit/types";
import { GEMMA_QUOTE } from "./notation.js";

const MAX_DEPTH = 128;

/** Reads a value in Gemma 4's notation; undefined where the text is none, or nests too deeply. */
export function readGemmaValue(text: string): JsonValue | undefined {
  const reader = new Reader(text);
  const value = reader.value(0);
  return reader.failed || !reader.atEnd ? undefined : value;
}

class Reader {
  failed = false;
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get atEnd(): boolean {
    this.#space();
    return this.#at === this.#text.length;
  }

  value(depth: number): JsonValue {
    this.#space();
    if (depth > MAX_DEPTH) return this.#fail();
    if (this.#skip(GEMMA_QUOTE)) return this.#string();
    if (this.#skip("[")) return this.#list(depth);
    if (this.#skip("{")) return this.#map(depth);
    const bare = /^[^,{}[\]]+/.exec(this.#text.slice(this.#at))?.[0];
    if (bare === undefined) return this.#fail();
    this.#at += bare.length;
    return scalar(bare.trim());
  }

  #list(depth: number): JsonValue {
    const items: JsonValue[] = [];
    while (!this.failed && !this.#skip("]")) {
      items.push(this.value(depth + 1));
      if (!this.#skip(",") && !this.#peek("]")) return this.#fail();
    }
    return items;
  }

  #map(depth: number): JsonValue {
    const members: [string, JsonValue][] = [];
    while (!this.failed && !this.#skip("}")) {
      const key = this.#key();
      members.push([key, this.value(depth + 1)]);
      if (!this.#skip(",") && !this.#peek("}")) return this.#fail();
    }
    return Object.fromEntries(members);
  }

  #key(): string {
    if (this.#skip(GEMMA_QUOTE)) {
      const quoted = this.#string();
      if (!this.#skip(":")) this.#fail();
      return quoted;
    }
    const colon = this.#text.indexOf(":", this.#at);
    const key = this.#text.slice(this.#at, colon).trim();
    if (colon < 0 || key === "") this.#fail();
    this.#at = colon + 1;
    return key;
  }

  #string(): string {
    const end = this.#text.indexOf(GEMMA_QUOTE, this.#at);
    if (end < 0) {
      this.#fail();
      return "";
    }
    const text = this.#text.slice(this.#at, end);
    this.#at = end + GEMMA_QUOTE.length;
    return text;
  }

  #skip(mark: string): boolean {
    if (!this.#peek(mark)) return false;
    this.#at += mark.length;
    return true;
  }

  #peek(mark: string): boolean {
    this.#space();
    return this.#text.startsWith(mark, this.#at);
  }

  #space(): void {
    while (/\s/.test(this.#text.charAt(this.#at))) this.#at++;
  }

  #fail(): null {
    this.failed = true;
    this.#at = this.#text.length;
    return null;
  }
}

/** What stands without quotes: a number, a boolean, null; anything else is a string that lost its quotes. */
function scalar(text: string): JsonValue {
  if (text === "true" || text === "false") return text === "true";
  if (text === "null" || text === "None") return null;
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(text) && !/\d{16}/.test(text) ? Number(text) : text;
}
