/** Made by `words/make.mjs`; see `words/README.md` for the sources and their licence. */
export declare const WORD_DATA: {
  readonly dimensions: number;
  readonly words: string;
  readonly commonness: string;
  readonly vectors: string;
};
