import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

/** Tokens of a text by o200k_base, the tokenizer of GPT-4o and later; Anthropic publishes none, so it stands for both. */
export function tokensOf(text) {
  return countTokens(text);
}
