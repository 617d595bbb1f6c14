import { type ModelEvent, type ModelRequest, Secret } from "@shedkit/provider";
import type { CloudProviderConfig } from "@shedkit/provider/adapter";
import { backendKey, type OpenProvider } from "@shedkit/provider/conformance";
import { ScriptedServer, type ServerAnswer } from "@shedkit/testing";
import { Messages } from "@shedkit/types";
import { AnthropicMessagesProvider } from "../src/index.js";

/** A provider on a scripted server: as the real API, or as a server that speaks like it. */
export function connect(
  server: ScriptedServer,
  as: "anthropic" | "compatible",
  more: Partial<CloudProviderConfig> = {},
): AnthropicMessagesProvider {
  const toServer: typeof fetch = (input, init) =>
    fetch(String(input).replace("https://api.anthropic.com", server.url), init);
  return AnthropicMessagesProvider.withConfig({
    apiKey: new Secret(backendKey),
    maxRetries: 0,
    ...(as === "anthropic" ? { fetch: toServer } : { baseUrl: server.url }),
    ...more,
  });
}

/** Opens for the conformance kit. */
export function opener(as: "anthropic" | "compatible", model: string): OpenProvider {
  return async (replies, { maxRetries = 0, initialDelayMs = 1, idleTimeoutMs } = {}) => {
    const server = await ScriptedServer.start(replies);
    return {
      provider: connect(server, as, { maxRetries, retry: { initialDelayMs }, idleTimeoutMs }),
      model,
      requests: () => server.requests.map((request) => request.body),
      left: async (index) => (await server.requests[index]?.over) === "left",
      close: () => server.close(),
    };
  };
}

/** A request of one question. */
export function question(more: Partial<ModelRequest> = {}): ModelRequest {
  const messages = [Messages.user("Hello")];
  return { model: { name: "claude-sonnet-4-5" }, messages, tools: { tools: [], activations: [] }, params: {}, ...more };
}

/** Asks once for each answer; gives back what came and what was sent. */
export async function exchange(
  answers: readonly ServerAnswer[],
  more: Partial<ModelRequest> = {},
  { as = "anthropic" as const, times = 1, ...config }: ExchangeOptions = {},
): Promise<{ events: ModelEvent[]; bodies: { [key: string]: unknown }[] }> {
  await using server = await ScriptedServer.start(answers);
  const provider = connect(server, as, config);
  const events: ModelEvent[] = [];
  for (let i = 0; i < times; i++) for await (const event of provider.stream(question(more))) events.push(event);
  return { events, bodies: server.requests.map((request) => request.body as { [key: string]: unknown }) };
}

type ExchangeOptions = Partial<CloudProviderConfig> & { as?: "anthropic" | "compatible"; times?: number };

/** The finished blocks. */
export function outputs(events: readonly ModelEvent[]): unknown[] {
  return events.flatMap((event) => (event.type === "output" ? [event.output] : []));
}
