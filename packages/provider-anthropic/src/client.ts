import type Anthropic from "@anthropic-ai/sdk";
import { type CloudProviderConfig, wholeBodies } from "@shedkit/provider/adapter";

const ANTHROPIC = "https://api.anthropic.com";

/** The SDK's client. The SDK is loaded here, with the first request: it takes longer to load than all that is before it. */
export async function anthropicClient(config: CloudProviderConfig): Promise<Anthropic> {
  const { default: Client } = await import("@anthropic-ai/sdk");
  return new Client({
    apiKey: config.apiKey.reveal(),
    authToken: null,
    webhookKey: null,
    baseURL: config.baseUrl ?? ANTHROPIC,
    maxRetries: 0,
    logLevel: "off",
    ...(config.timeoutMs !== undefined && { timeout: config.timeoutMs }),
    defaultHeaders: {
      // The SDK sends a bearer token; servers that speak like the real API look for the older header.
      ...(config.baseUrl !== undefined && { "x-api-key": config.apiKey.reveal() }),
      ...config.headers,
    },
    fetch: wholeBodies(config),
  });
}
