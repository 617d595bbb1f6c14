import type { PreTrainedTokenizer } from "@huggingface/transformers";

const MOST_HELD = 4; // tokens of a character, at most the bytes that UTF-8 has for it

/** Turns generated tokens into text, holding back tokens that end inside a character. */
export class TokenText {
  readonly #tokenizer: PreTrainedTokenizer;
  #pending: number[] = [];
  /** The token before the pending ones: some decoders drop the space of the first one. */
  #before: number[] = [];

  constructor(tokenizer: PreTrainedTokenizer, before: number | undefined) {
    this.#tokenizer = tokenizer;
    if (before !== undefined) this.#before = [before];
  }

  push(token: number): string {
    this.#pending.push(token);
    const text = this.#decoded();
    return text.endsWith("\uFFFD") && this.#pending.length < MOST_HELD ? "" : this.#take(text);
  }

  /** What was held back: a broken character. */
  end(): string {
    return this.#pending.length === 0 ? "" : this.#take(this.#decoded());
  }

  #decoded(): string {
    const before = this.#text(this.#before);
    const all = this.#text([...this.#before, ...this.#pending]);
    return all.startsWith(before) ? all.slice(before.length) : this.#text(this.#pending);
  }

  #text(tokens: number[]): string {
    if (tokens.length === 0) return "";
    return this.#tokenizer.decode(tokens, { skip_special_tokens: false, clean_up_tokenization_spaces: false });
  }

  #take(text: string): string {
    this.#before = this.#pending.slice(-1);
    this.#pending = [];
    return text;
  }
}
