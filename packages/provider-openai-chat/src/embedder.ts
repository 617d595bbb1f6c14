import type { FailureContext } from "@shedkit/provider";
import { sdkFailure } from "@shedkit/provider/adapter";
import type { Embedder } from "@shedkit/types";
import type OpenAI from "openai";

const BATCH = 256;

const DIMENSIONS: { readonly [model: string]: number } = {
  "text-embedding-3-small": 1536,
  "text-embedding-3-large": 3072,
  "text-embedding-ada-002": 1536,
};

/** Vectors over the embeddings endpoint. Rejects with the failures of a generation. */
export class OpenAIEmbedder implements Embedder {
  readonly id: string;
  readonly dimensions?: number | undefined;
  readonly #client: OpenAI;
  readonly #model: string;
  readonly #context: FailureContext;

  constructor(client: OpenAI, model: string, context: FailureContext) {
    this.#client = client;
    this.#model = model;
    this.#context = context;
    this.id = `${context.provider}/${model}`;
    this.dimensions = DIMENSIONS[model];
  }

  async embed(texts: readonly string[], options: { signal?: AbortSignal | undefined } = {}): Promise<Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (let at = 0; at < texts.length; at += BATCH) {
      vectors.push(...(await this.#batch(texts.slice(at, at + BATCH), options.signal)));
    }
    return vectors;
  }

  async #batch(texts: readonly string[], signal: AbortSignal | undefined): Promise<Float32Array[]> {
    // An empty text is refused; a space is the nearest that is not.
    const input = texts.map((text) => (text === "" ? " " : text));
    try {
      const options = signal === undefined ? {} : { signal };
      const { data } = await this.#client.embeddings.create(
        { model: this.#model, input, encoding_format: "float" },
        options,
      );
      const vectors: Float32Array[] = new Array(texts.length);
      for (const { index, embedding } of data) vectors[index] = Float32Array.from(embedding);
      return vectors;
    } catch (error) {
      throw sdkFailure(error, { ...this.#context, signal });
    }
  }
}
