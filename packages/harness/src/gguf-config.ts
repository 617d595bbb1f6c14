import type { HubSettings } from "@shedkit/gguf";

/** How a GGUF model is found, loaded and run. What is absent is the backend's own default. */
export interface HuggingFaceGgufConfig {
  /** Where downloads are kept. Default: the shared Hugging Face cache, so that no tool downloads a model twice. */
  cacheDir?: string | undefined;
  /**
   * Which file of a repo is meant, e.g. `"Q4_K_M"`. It wins over one in the model's name. Default: Q4_K_M, a smaller
   * one where that does not fit this machine.
   */
  quantization?: string | undefined;
  /** What computes. Default `"auto"`: the best this machine has. */
  backend?: "cpu" | "metal" | "cuda" | "vulkan" | "auto" | undefined;
  /** How many layers go to the GPU. */
  gpuLayers?: number | "all" | undefined;
  /** In tokens. Default: what the model was trained for, as far as memory goes. */
  contextLength?: number | undefined;
  /** How many prompt tokens are evaluated at once. */
  batchSize?: number | undefined;
  /** CPU threads. */
  threads?: number | undefined;
  /** Where models of a hub come from. Default: what the environment says, as for every Hugging Face tool. */
  hub?: HubSettings | undefined;
}

/** Makes {@link HuggingFaceGgufConfig}s; each function returns a new one. */
export const HuggingFaceGgufConfig = {
  /** The default configuration with another cache folder. */
  withCacheDir(cacheDir: string): HuggingFaceGgufConfig {
    return { cacheDir };
  },
  /** The same on the CPU alone, whatever GPU there is. */
  onCpu(config: HuggingFaceGgufConfig = {}): HuggingFaceGgufConfig {
    return { ...config, backend: "cpu", gpuLayers: 0 };
  },
  /**
   * The same with every layer on the GPU: Metal on Apple, elsewhere what there is, CUDA before Vulkan. A GPU backend
   * that `config` names already is kept.
   */
  onGpu(config: HuggingFaceGgufConfig = {}, platform: string = process.platform): HuggingFaceGgufConfig {
    const named = config.backend === "cpu" ? undefined : config.backend;
    return { ...config, backend: platform === "darwin" ? "metal" : (named ?? "auto"), gpuLayers: "all" };
  },
};
