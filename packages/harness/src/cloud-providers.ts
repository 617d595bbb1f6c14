import type { ModelProvider } from "@shedkit/provider";
import { optionalPeer } from "./optional-peer.js";

/** OpenAI over Chat Completions. Throws AgenticError `provider` with the install line where its package is missing. */
export async function openaiChatProvider(apiKey: string): Promise<ModelProvider> {
  const { OpenAIProvider } = await optionalPeer(
    "@shedkit/provider-openai-chat",
    () => import("@shedkit/provider-openai-chat"),
  );
  return OpenAIProvider.apiKey(apiKey);
}
