import type { LlamaModel, Token } from "node-llama-cpp";

const MAX_BYTES = 4; // of a character in UTF-8
const BEFORE = 4; // tokens that decide whether a space is added

/** Turns generated tokens into text, holding back a token that ends inside a character. */
export class TokenText {
  readonly #model: LlamaModel;
  readonly #before: Token[] | undefined;
  #pending: Token[] = [];

  /** `before`: the tokens that stand before the answer, where they matter: some tokenizers add a space behind none. */
  constructor(model: LlamaModel, before: readonly Token[] | undefined) {
    this.#model = model;
    this.#before = before?.slice(-BEFORE);
  }

  push(token: Token): string {
    this.#pending.push(token);
    const text = this.#model.detokenize(this.#pending, true, this.#before);
    return text.endsWith("\uFFFD") && this.#pending.length < MAX_BYTES ? "" : this.#take(text);
  }

  /** What was held back: a broken character. */
  end(): string {
    return this.#pending.length === 0 ? "" : this.#take(this.#model.detokenize(this.#pending, true, this.#before));
  }

  #take(text: string): string {
    if (this.#before) {
      this.#before.push(...this.#pending);
      this.#before.splice(0, this.#before.length - BEFORE);
    }
    this.#pending = [];
    return text;
  }
}
