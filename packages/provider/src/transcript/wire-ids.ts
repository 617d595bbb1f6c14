/** What a wire takes as the id of a tool call. */
export interface IdRule {
  /** The characters that may stand in an id; others become `filler`. */
  allowed: RegExp;
  /** Default: `"_"`. */
  filler?: string | undefined;
  maxLength: number;
  /** True where an id has exactly `maxLength` characters. Default: false. */
  exact?: boolean | undefined;
}

/** The rules of the wires. */
export const idRules = {
  /** Anthropic and Bedrock: letters, digits, `_` and `-`, at most 64. */
  anthropic: { allowed: /[a-zA-Z0-9_-]/, maxLength: 64 },
  /** Chat Completions: at most 40. */
  openaiChat: { allowed: /[a-zA-Z0-9_-]/, maxLength: 40 },
  /** Responses: at most 64. */
  openaiResponses: { allowed: /[a-zA-Z0-9_-]/, maxLength: 64 },
  /** Mistral: nine letters and digits. */
  mistral: { allowed: /[a-zA-Z0-9]/, filler: "0", maxLength: 9, exact: true },
} as const satisfies { [wire: string]: IdRule };

/**
 * Ids as one wire takes them, and back. An id that fits stays; another becomes one that does, the same in every
 * request as long as ids are asked for in the same order. Two ids never share a wire id.
 */
export class WireIds {
  readonly #rule: IdRule;
  readonly #toWire = new Map<string, string>();
  readonly #fromWire = new Map<string, string>();

  constructor(rule: IdRule) {
    this.#rule = rule;
  }

  toWire(id: string): string {
    const known = this.#toWire.get(id);
    if (known !== undefined) return known;
    let wire = this.#fits(id) ? id : this.#reshape(id, "");
    for (let n = 1; this.#fromWire.has(wire); n++) wire = this.#reshape(id, `${n}`);
    this.#toWire.set(id, wire);
    this.#fromWire.set(wire, id);
    return wire;
  }

  /** The id that was sent as `wire`; the same text where none was. */
  fromWire(wire: string): string {
    return this.#fromWire.get(wire) ?? wire;
  }

  #fits(id: string): boolean {
    const { maxLength, exact, allowed } = this.#rule;
    if (exact ? id.length !== maxLength : id.length > maxLength) return false;
    return id.length > 0 && everyMatches(id, allowed);
  }

  #reshape(id: string, salt: string): string {
    const { allowed, maxLength, exact, filler = "_" } = this.#rule;
    const clean = [...id].map((character) => (allowed.test(character) ? character : filler)).join("");
    if (!exact && salt === "" && clean.length > 0 && clean.length <= maxLength) return clean;
    const hash = hashOf(id + salt);
    const head = exact ? "" : clean.slice(0, Math.max(0, maxLength - hash.length));
    return (head + hash).slice(0, maxLength).padEnd(exact ? maxLength : 0, "0");
  }
}

function everyMatches(text: string, allowed: RegExp): boolean {
  for (const character of text) if (!allowed.test(character)) return false;
  return true;
}

/** FNV-1a over UTF-16 units, twice with different seeds, as ten letters and digits. */
function hashOf(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193) >>> 0;
    b = Math.imul(b ^ unit, 0x01000193) >>> 0;
  }
  return (a.toString(36).padStart(7, "0") + b.toString(36).padStart(7, "0")).slice(2, 12);
}
