import type { LlamaModel, Token } from "node-llama-cpp";

const CONTROL = 3;
const USER_DEFINED = 4;

/** Splits the spelling of a special token, so that it stays a text. A private character that prompts do not hold. */
const SPLIT = "\u{F5D1B}";

/**
 * Turns prompts into tokens. Special tokens count only where the chat template wrote them: what people, tools and the
 * model wrote goes through {@link PromptTokens.protect} first, and cannot end a turn or open another.
 */
export class PromptTokens {
  readonly #model: LlamaModel;
  readonly #special: RegExp | undefined;
  /** Whether the tokenizer puts a space before a text that nothing stands before. */
  readonly spaces: boolean;

  constructor(model: LlamaModel, spaces: boolean) {
    this.#model = model;
    this.spaces = spaces;
    this.#special = specialSpellings(model);
  }

  protect(text: string): string {
    const clean = text.includes(SPLIT) ? text.replaceAll(SPLIT, "") : text;
    return this.#special ? clean.replace(this.#special, (token) => token[0] + SPLIT + token.slice(1)) : clean;
  }

  /** The tokens of a whole prompt: one mark of its beginning if the model wants it, however the template has it. */
  ofPrompt(text: string): Token[] {
    const tokens = this.ofText(text, true);
    const { bos, shouldPrependBosToken } = this.#model.tokens;
    if (bos === null) return tokens;
    if (tokens[0] !== bos) return shouldPrependBosToken ? [bos, ...tokens] : tokens;
    const doubled = tokens.findIndex((token) => token !== bos);
    return tokens.slice(Math.max(0, (doubled < 0 ? tokens.length : doubled) - 1));
  }

  /** The tokens of a text that stands at the start of a prompt, or behind other text. */
  ofText(text: string, atStart: boolean): Token[] {
    return text.split(SPLIT).flatMap((part, i) => {
      if (part === "") return [];
      // Some tokenizers put a space before every text; between two texts there is none.
      return this.spaces && !(atStart && i === 0)
        ? this.#model.tokenize(part, true, "trimLeadingSpace")
        : this.#model.tokenize(part, true);
    });
  }
}

function specialSpellings(model: LlamaModel): RegExp | undefined {
  const ggml = model.fileInfo.metadata.tokenizer?.ggml as
    | { tokens?: readonly string[]; token_type?: readonly number[] }
    | undefined;
  const tokens = ggml?.tokens ?? [];
  const types = ggml?.token_type ?? [];
  const special = tokens.filter((text, i) => {
    const type = types[i];
    return text.length > 1 && (type === CONTROL || (type === USER_DEFINED && /^[<[|].*[>\]|]$/s.test(text)));
  });
  if (special.length === 0) return undefined;
  const escaped = special
    .sort((a, b) => b.length - a.length)
    .map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(escaped.join("|"), "g");
}
