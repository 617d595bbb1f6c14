/** What of `tokenizer.json` says which bytes a token stands for. */
export interface VocabularyFile {
  model?: { vocab?: { readonly [token: string]: number } | readonly (readonly [token: string, score: number])[] };
  decoder?: unknown;
}

const BYTE = /^<0x([0-9A-F]{2})>$/;

/** The bytes of tokens that may be a part of a character. */
export class TokenBytes {
  /** Whether tokens' bytes one behind the other are the text, with nothing put in or left out. */
  readonly exact: boolean;
  readonly #file: VocabularyFile;
  #tokens: Map<number, string> | undefined;

  constructor(file: VocabularyFile) {
    this.#file = file;
    this.exact = JSON.stringify(file.decoder ?? null).includes('"ByteLevel"');
  }

  /** Of these tokens together. Undefined where the vocabulary does not tell of one. */
  of(tokens: readonly number[]): Uint8Array | undefined {
    const parts = tokens.map((token) => this.#ofOne(token));
    if (!parts.every((part) => part !== undefined)) return undefined;
    return parts.length === 1 ? parts[0] : Uint8Array.from(parts.flatMap((part) => [...part]));
  }

  #ofOne(token: number): Uint8Array | undefined {
    this.#tokens ??= tokensOf(this.#file);
    const text = this.#tokens.get(token);
    if (text === undefined) return undefined;
    if (!this.exact) {
      const byte = BYTE.exec(text)?.[1];
      return byte === undefined ? new TextEncoder().encode(text) : Uint8Array.of(Number.parseInt(byte, 16));
    }
    const bytes = Array.from(text, (char) => BYTES.get(char));
    return bytes.every((byte) => byte !== undefined) ? Uint8Array.from(bytes) : undefined;
  }
}

function tokensOf({ model }: VocabularyFile): Map<number, string> {
  const vocab = model?.vocab ?? {};
  return Array.isArray(vocab)
    ? new Map(vocab.map(([token], id: number) => [id, token as string]))
    : new Map(Object.entries(vocab).map(([token, id]) => [id as number, token]));
}

/** The characters that byte-level vocabularies write bytes as: printable ones as they are, the others from U+0100 on. */
const BYTES = new Map<string, number>();
for (let byte = 0, other = 0x100; byte < 256; byte++) {
  const printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad);
  BYTES.set(String.fromCharCode(printable ? byte : other++), byte);
}
