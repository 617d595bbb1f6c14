import type { ModelProvider } from "@shedkit/provider";
import type { HuggingFaceGgufConfig } from "./gguf-config.js";
import { ggufProvider } from "./gguf-provider.js";

/** The repositories of the families that have presets. */
export const REPOSITORIES = {
  gemmaSmall: "unsloth/gemma-4-E2B-it-GGUF",
  gemma: "unsloth/gemma-4-26B-A4B-it-GGUF",
  glm: "unsloth/GLM-5.2-GGUF",
  qwen: "unsloth/Qwen3.6-35B-A3B-GGUF",
} as const;

/**
 * A family of local models. Each function makes a provider that takes the quantization it is named after, whatever
 * `config` or a model's name says, and throws as `ggufProvider` does.
 */
export interface GgufFamily {
  /** The repository, to be given as the model: `new RouterMix().primary(() => Glm52.q4KM(), Glm52.model)`. */
  readonly model: string;
  q3KM(config?: HuggingFaceGgufConfig): Promise<ModelProvider>;
  q4KM(config?: HuggingFaceGgufConfig): Promise<ModelProvider>;
  q5KM(config?: HuggingFaceGgufConfig): Promise<ModelProvider>;
  q8_0(config?: HuggingFaceGgufConfig): Promise<ModelProvider>;
}

/** GLM 5.2. */
export const Glm52: GgufFamily = family(REPOSITORIES.glm);
/** Qwen 3.6, 35B-A3B. */
export const Qwen36: GgufFamily = family(REPOSITORIES.qwen);
/** Gemma 4, 26B-A4B. */
export const Gemma4: GgufFamily = family(REPOSITORIES.gemma);

function family(model: string): GgufFamily {
  const quantized =
    (quantization: string) =>
    (config: HuggingFaceGgufConfig = {}): Promise<ModelProvider> =>
      ggufProvider({ ...config, quantization });
  return {
    model,
    q3KM: quantized("Q3_K_M"),
    q4KM: quantized("Q4_K_M"),
    q5KM: quantized("Q5_K_M"),
    q8_0: quantized("Q8_0"),
  };
}
