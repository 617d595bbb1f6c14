import type { ModelProvider } from "@shedkit/provider";
import { optionalPeer } from "./optional-peer.js";

/**
 * The provider of local ONNX models. Nothing is downloaded before the first request. Throws AgenticError `provider`
 * with the install line where `@shedkit/provider-transformers` is missing; where transformers.js itself is, the first
 * request fails so.
 */
export async function transformersProvider(): Promise<ModelProvider> {
  const [{ TransformersProvider }, { hubSettingsFromEnv }] = await Promise.all([
    optionalPeer(
      "@shedkit/provider-transformers",
      () => import("@shedkit/provider-transformers"),
      "@huggingface/transformers",
    ),
    import("@shedkit/gguf"),
  ]);
  return new TransformersProvider({ hub: hubSettingsFromEnv() });
}
