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
    const text = this.#decoded(this.#pending);
    return isCut(text, this.#pending) ? "" : this.#take(text);
  }

  /** The text that would be there with the token, what is held back included; undefined where it would still be. */
  would(token: number): string | undefined {
    const tokens = [...this.#pending, token];
    const text = this.#decoded(tokens);
    return isCut(text, tokens) ? undefined : text;
  }

  /** The tokens that are held back. */
  get held(): readonly number[] {
    return this.#pending;
  }

  /** What was held back: a broken character. */
  end(): string {
    return this.#pending.length === 0 ? "" : this.#take(this.#decoded(this.#pending));
  }

  #decoded(tokens: number[]): string {
    const before = this.#text(this.#before);
    const all = this.#text([...this.#before, ...tokens]);
    return all.startsWith(before) ? all.slice(before.length) : this.#text(tokens);
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

function isCut(text: string, tokens: readonly number[]): boolean {
  return text.endsWith("\uFFFD") && tokens.length < MOST_HELD;
}
