import { type CloudProviderConfig, wholeBodies } from "@shedkit/provider/adapter";
import type OpenAI from "openai";

const OPENAI = "https://api.openai.com/v1";

/** The SDK's client. The SDK is loaded here, with the first request: it takes longer to load than all that is before it. */
export async function openaiClient(config: CloudProviderConfig): Promise<OpenAI> {
  const { default: Client } = await import("openai");
  return new Client({
    apiKey: config.apiKey.reveal(),
    baseURL: config.baseUrl ?? OPENAI,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: "off",
    ...(config.timeoutMs !== undefined && { timeout: config.timeoutMs }),
    ...(config.headers !== undefined && { defaultHeaders: { ...config.headers } }),
    fetch: wholeBodies(config),
  });
}
