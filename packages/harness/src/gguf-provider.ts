import type { ModelProvider } from "@shedkit/provider";
import type { HuggingFaceGgufConfig } from "./gguf-config.js";
import { optionalPeer } from "./optional-peer.js";

/**
 * The provider of local GGUF models: every preset that runs one goes through here. Nothing is downloaded before the
 * first request. `id` names it in a router; default `"llamacpp"`. Throws AgenticError `provider` with the install line
 * where `@shedkit/provider-llamacpp` is missing.
 */
export async function ggufProvider(config: HuggingFaceGgufConfig = {}, id?: string): Promise<ModelProvider> {
  const [{ LlamaCppProvider }, { hubSettingsFromEnv }] = await Promise.all([
    optionalPeer("@shedkit/provider-llamacpp", () => import("@shedkit/provider-llamacpp"), "node-llama-cpp"),
    import("@shedkit/gguf"),
  ]);
  return new LlamaCppProvider({ ...config, hub: config.hub ?? hubSettingsFromEnv(), id });
}
