import { GrammarMatcher } from "@shedkit/text-tools/backend";
import { cutText, wholeText } from "./cut-character.js";
import type { TokenBytes } from "./token-bytes.js";
import type { TokenText } from "./token-text.js";

/** Holds an answer to a grammar while there is one: says which tokens may come next, and follows what came. */
export class HeldAnswer {
  readonly #decoder: TokenText;
  readonly #bytes: TokenBytes;
  readonly #ends: ReadonlySet<number>;
  #state: GrammarMatcher | undefined;
  #kept: { grammar: string; start: GrammarMatcher } | undefined;

  /** `ends`: the tokens that end an answer. */
  constructor(decoder: TokenText, bytes: TokenBytes, ends: ReadonlySet<number>) {
    this.#decoder = decoder;
    this.#bytes = bytes;
    this.#ends = ends;
  }

  /** From here on the grammar holds; undefined: none does. */
  begin(grammar: string | undefined): void {
    if (grammar !== undefined && this.#kept?.grammar !== grammar) {
      this.#kept = { grammar, start: GrammarMatcher.of(grammar) };
    }
    this.#state = grammar === undefined ? undefined : this.#kept?.start;
  }

  /** Which tokens may come next; undefined where every one may. */
  get allowed(): ((token: number) => boolean) | undefined {
    const state = this.#state;
    if (!state) return undefined;
    return (token) => {
      if (this.#ends.has(token)) return state.complete;
      const tokens = [...this.#decoder.held, token];
      const bytes = this.#bytes.of(tokens);
      const text = bytes && this.#bytes.exact ? wholeText(bytes) : this.#decoder.would(token);
      if (text !== undefined) return text !== "" && !text.includes("\uFFFD") && state.after(text) !== undefined;
      const cut = bytes && cutText(bytes);
      return cut !== undefined && state.after(cut.text)?.takes(cut.becomes) === true;
    };
  }

  /** A text came, as the decoder gave it. */
  follow(text: string): void {
    this.#state = this.#state?.after(text);
  }
}
