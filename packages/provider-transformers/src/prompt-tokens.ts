import type { PreTrainedTokenizer } from "@huggingface/transformers";

/** Splits the spelling of a special token, so that it stays a text. A private character that prompts do not hold. */
const SPLIT = "\u{F5D1B}";

/** A token that a tokenizer has beside its vocabulary, as its file says. */
export interface AddedToken {
  content: string;
  special: boolean;
}

/**
 * Turns prompts into tokens. Special tokens count only where the chat template wrote them: what people, tools and the
 * model wrote goes through {@link PromptTokens.protect} first, and cannot end a turn or open another.
 */
export class PromptTokens {
  readonly #tokenizer: PreTrainedTokenizer;
  readonly #special: RegExp | undefined;

  constructor(tokenizer: PreTrainedTokenizer, added: readonly AddedToken[]) {
    this.#tokenizer = tokenizer;
    const spellings = added
      .filter(({ content, special }) => content.length > 1 && (special || /^[<[|].*[>\]|]$/s.test(content)))
      .map(({ content }) => content)
      .sort((a, b) => b.length - a.length)
      .map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    this.#special = spellings.length === 0 ? undefined : new RegExp(spellings.join("|"), "g");
  }

  protect(text: string): string {
    const clean = text.includes(SPLIT) ? text.replaceAll(SPLIT, "") : text;
    return this.#special ? clean.replace(this.#special, (token) => token[0] + SPLIT + token.slice(1)) : clean;
  }

  /** The tokens of a prompt, whose template wrote what begins it. */
  of(text: string): number[] {
    return text
      .split(SPLIT)
      .flatMap((part) => (part === "" ? [] : this.#tokenizer.encode(part, { add_special_tokens: false })));
  }
}
