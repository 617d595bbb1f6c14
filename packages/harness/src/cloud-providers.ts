import type { ModelProvider } from "@shedkit/provider";
import { optionalPeer } from "./optional-peer.js";

// Each imports its backend, and throws AgenticError `provider` with the install line where that is missing.

export async function anthropicProvider(apiKey: string): Promise<ModelProvider> {
  const name = "@shedkit/provider-anthropic";
  const { AnthropicMessagesProvider } = await optionalPeer(name, () => import("@shedkit/provider-anthropic"));
  return AnthropicMessagesProvider.apiKey(apiKey);
}

export async function openaiChatProvider(apiKey: string): Promise<ModelProvider> {
  const name = "@shedkit/provider-openai-chat";
  const { OpenAIProvider } = await optionalPeer(name, () => import("@shedkit/provider-openai-chat"));
  return OpenAIProvider.apiKey(apiKey);
}

export async function openaiResponsesProvider(apiKey: string): Promise<ModelProvider> {
  const name = "@shedkit/provider-openai-responses";
  const { ResponsesProvider } = await optionalPeer(name, () => import("@shedkit/provider-openai-responses"));
  return ResponsesProvider.apiKey(apiKey);
}
