/** Repositories that may be called by a short name. Names are in lower case; any case is understood. */
export const namedModels: Readonly<Record<string, string>> = Object.freeze({
  "glm-5.2": "unsloth/GLM-5.2-GGUF",
  "qwen3.6-35b-a3b": "unsloth/Qwen3.6-35B-A3B-GGUF",
  "gemma-4-26b-a4b": "unsloth/gemma-4-26B-A4B-it-GGUF",
  "gemma-4-e4b": "unsloth/gemma-4-E4B-it-GGUF",
  "gemma-4-e2b": "unsloth/gemma-4-E2B-it-GGUF",
});
