import { raceAbort } from "@shedkit/text-tools/backend";
import type { Embedder } from "@shedkit/types";
import type { LoadedModel } from "./loaded-model.js";

/** What an embedder needs of its provider. */
export interface EmbedderParts {
  id: string;
  /** Aborts when the provider is closed. */
  closing: AbortSignal;
  load(signal: AbortSignal): Promise<LoadedModel>;
  /** Notes that the model is in use; the function returned says that it is not any more. */
  begin(): () => void;
}

/** An embedder over a model; vectors have length one. Rejects with the signal's reason at an abort. */
export function llamaEmbedder({ id, closing, load, begin }: EmbedderParts): Embedder {
  return {
    id,
    async embed(texts, { signal: own } = {}) {
      const signal = own ? AbortSignal.any([closing, own]) : closing;
      signal.throwIfAborted();
      const end = begin();
      let working: Promise<unknown> = Promise.resolve();
      try {
        const loaded = await load(signal);
        const context = await raceAbort(loaded.embeddings(), signal);
        const most = loaded.embeddedTokens - EDGES;
        const vectors: Float32Array[] = [];
        for (const text of texts) {
          signal.throwIfAborted();
          const tokens = loaded.model.tokenize(text).slice(0, most);
          const made = context.getEmbeddingFor(tokens);
          working = made;
          const { vector } = await raceAbort(made, signal);
          vectors.push(tokens.length === 0 ? new Float32Array(loaded.model.embeddingVectorSize) : unit(vector));
        }
        return vectors;
      } finally {
        // A text that is in work cannot be stopped; freeing the model under it would end the process.
        void working.catch(() => undefined).finally(end);
      }
    },
  };
}

const EDGES = 8; // the tokens that a model wants at both ends

function unit(vector: readonly number[]): Float32Array {
  const length = Math.hypot(...vector) || 1;
  return Float32Array.from(vector, (value) => value / length);
}
