import { delay, type FailureContext, retryDelay } from "@shedkit/provider";
import { type CloudProviderConfig, sdkFailure } from "@shedkit/provider/adapter";
import { AgenticError, type Embedder } from "@shedkit/types";
import type OpenAI from "openai";

const BATCH = 256;

const DIMENSIONS: { readonly [model: string]: number } = {
  "text-embedding-3-small": 1536,
  "text-embedding-3-large": 3072,
  "text-embedding-ada-002": 1536,
};

/** Vectors over the embeddings endpoint. Repeats what may pass, as generations do; rejects with their failures. */
export class OpenAIEmbedder implements Embedder {
  readonly id: string;
  readonly dimensions?: number | undefined;
  readonly #client: () => Promise<OpenAI>;
  readonly #model: string;
  readonly #context: FailureContext;
  readonly #config: CloudProviderConfig;

  constructor(client: () => Promise<OpenAI>, model: string, context: FailureContext, config: CloudProviderConfig) {
    this.#client = client;
    this.#model = model;
    this.#context = context;
    this.#config = config;
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
    const { limit, retry, maxRetries } = this.#config;
    for (let attempt = 1; ; attempt++) {
      const release = await limit?.take(signal);
      let pause: number | undefined;
      try {
        return await this.#once(texts, signal);
      } catch (thrown) {
        const error = sdkFailure(thrown, { ...this.#context, signal });
        pause = retryDelay(error, attempt, { ...retry, maxRetries });
        if (pause === undefined) throw error;
      } finally {
        release?.();
      }
      await delay(pause, signal);
    }
  }

  async #once(texts: readonly string[], signal: AbortSignal | undefined): Promise<Float32Array[]> {
    // An empty text is refused; a space is the nearest that is not.
    const input = texts.map((text) => (text === "" ? " " : text));
    const options = signal === undefined ? {} : { signal };
    const client = await this.#client();
    const { data } = await client.embeddings.create({ model: this.#model, input, encoding_format: "float" }, options);
    const byIndex = new Map((data ?? []).map(({ index, embedding }) => [index, Float32Array.from(embedding)]));
    return texts.map((_, i) => byIndex.get(i) ?? this.#missing(i, texts.length));
  }

  #missing(index: number, count: number): never {
    const { provider, model } = this.#context;
    const text = `${provider} sent no vector for text ${index + 1} of ${count}. Check that ${model} embeds.`;
    throw new AgenticError("generation", text, { kind: "other", provider, model });
  }
}
