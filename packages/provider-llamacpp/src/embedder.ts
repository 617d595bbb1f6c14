import type { Embedder } from "@shedkit/types";
import type { LoadedModel } from "./loaded-model.js";

/** An embedder over a model that `load` gives; vectors have length one. */
export function llamaEmbedder(id: string, load: (signal: AbortSignal | undefined) => Promise<LoadedModel>): Embedder {
  return {
    id,
    async embed(texts, { signal } = {}) {
      signal?.throwIfAborted();
      const loaded = await load(signal);
      const context = await loaded.embeddings();
      const most = loaded.embeddedTokens - EDGES;
      const vectors: Float32Array[] = [];
      for (const text of texts) {
        signal?.throwIfAborted();
        const tokens = loaded.model.tokenize(text).slice(0, most);
        const { vector } = await context.getEmbeddingFor(tokens);
        vectors.push(tokens.length === 0 ? new Float32Array(loaded.model.embeddingVectorSize) : unit(vector));
      }
      return vectors;
    },
  };
}

const EDGES = 8; // the tokens that a model wants at both ends

function unit(vector: readonly number[]): Float32Array {
  const length = Math.hypot(...vector) || 1;
  return Float32Array.from(vector, (value) => value / length);
}
