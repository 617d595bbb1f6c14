import { AgentSession, type AgentSessionBuilder } from "@shedkit/agent";
import type { ModelPreset, ModelSelection, ProviderRouter } from "@shedkit/provider";
import type { KvMemoryStore, MemoryDocumentStore } from "@shedkit/store";
import type { ModelIdLike } from "@shedkit/types";
import { anthropicProvider, openaiChatProvider, openaiResponsesProvider } from "./cloud-providers.js";
import { REPOSITORIES } from "./families.js";
import { HuggingFaceGgufConfig } from "./gguf-config.js";
import { ggufProvider } from "./gguf-provider.js";
import { RouterMix } from "./router-mix.js";
import { transformersProvider } from "./transformers-provider.js";

/**
 * A router to be, with the models it is made for. Building one neither imports a backend nor touches the network:
 * `load` imports, and the first request to a local model resolves, downloads and loads it.
 *
 * A local model is named as `owner/repo`, `owner/repo:Q4_K_M`, `owner/repo:revision`, `hf:owner/repo` or by the path
 * of a `.gguf` file.
 */
export class RouterPreset implements ModelPreset {
  readonly models: Partial<ModelSelection>;
  readonly #make: (signal?: AbortSignal) => Promise<ProviderRouter>;

  /** A preset of your own: its models, and what makes its router. `RouterMix` builds the usual kind. */
  constructor(models: Partial<ModelSelection>, make: (signal?: AbortSignal) => Promise<ProviderRouter>) {
    this.models = models;
    this.#make = make;
  }

  /** One GGUF model, run by what this machine has unless `config` says otherwise. */
  static huggingFace(model: ModelIdLike, config: HuggingFaceGgufConfig = {}): RouterPreset {
    return new RouterMix().primary(() => ggufProvider(config), model).build();
  }

  /** The same on the CPU alone; the rest of `config` is kept. */
  static huggingfaceCpu(model: ModelIdLike, config?: HuggingFaceGgufConfig): RouterPreset {
    return RouterPreset.huggingFace(model, HuggingFaceGgufConfig.onCpu(config));
  }

  /** The same with every layer on the GPU (Metal on Apple); the rest of `config` is kept. */
  static huggingfaceGpu(model: ModelIdLike, config?: HuggingFaceGgufConfig): RouterPreset {
    return RouterPreset.huggingFace(model, HuggingFaceGgufConfig.onGpu(config));
  }

  /** The large Gemma 4 (26B-A4B) for the work, the small one (E2B) for memory. */
  static gemma(main?: HuggingFaceGgufConfig, memory?: HuggingFaceGgufConfig): RouterPreset {
    return withGemmaMemory(REPOSITORIES.gemma, main, memory);
  }

  /** GLM 5.2 for the work, the small Gemma 4 for memory. */
  static glm52Gemma(main?: HuggingFaceGgufConfig, memory?: HuggingFaceGgufConfig): RouterPreset {
    return withGemmaMemory(REPOSITORIES.glm, main, memory);
  }

  /** Qwen 3.6 (35B-A3B) for the work, the small Gemma 4 for memory. */
  static qwen36Gemma(main?: HuggingFaceGgufConfig, memory?: HuggingFaceGgufConfig): RouterPreset {
    return withGemmaMemory(REPOSITORIES.qwen, main, memory);
  }

  /**
   * One ONNX model, a Llama or another, run by transformers.js: local inference without llama.cpp. Named as
   * `owner/repo`, `owner/repo:q4`, or by the path of a folder.
   */
  static candleLlama(model: ModelIdLike): RouterPreset {
    return new RouterMix().primary(() => transformersProvider(), model).build();
  }

  /** Claude Opus for the work, Claude Sonnet for memory. */
  static claude(apiKey: string): RouterPreset {
    const provider = () => anthropicProvider(apiKey);
    return new RouterMix().primary(provider, "claude-opus-4-8").memory(provider, "claude-sonnet-4-6").build();
  }

  /** GPT-4o for the work, GPT-4o mini for memory, over Chat Completions. */
  static openaiChat(apiKey: string): RouterPreset {
    const provider = () => openaiChatProvider(apiKey);
    return new RouterMix().primary(provider, "gpt-4o").memory(provider, "gpt-4o-mini").build();
  }

  /** The same over Responses. */
  static openaiResponses(apiKey: string): RouterPreset {
    const provider = () => openaiResponsesProvider(apiKey);
    return new RouterMix().primary(provider, "gpt-4o").memory(provider, "gpt-4o-mini").build();
  }

  /**
   * Imports the backends and makes a router; the caller owns it. Throws AgenticError `provider` with the install line
   * where a backend is not installed.
   */
  load(signal?: AbortSignal): Promise<ProviderRouter> {
    return this.#make(signal);
  }

  /** The same as `AgentSession.builder(preset)`. */
  intoAgentBuilder(): AgentSessionBuilder<MemoryDocumentStore, KvMemoryStore> {
    return AgentSession.builder(this);
  }
}

function withGemmaMemory(
  model: string,
  main: HuggingFaceGgufConfig = {},
  memory: HuggingFaceGgufConfig = {},
): RouterPreset {
  return new RouterMix()
    .primary(() => ggufProvider(main), model)
    .memory(() => ggufProvider(memory, "gguf-memory"), REPOSITORIES.gemmaSmall)
    .build();
}
