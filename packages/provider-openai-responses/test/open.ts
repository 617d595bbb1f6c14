import type { ModelEvent, ModelRequest } from "@shedkit/provider";
import { Secret } from "@shedkit/provider";
import type { CloudProviderConfig } from "@shedkit/provider/adapter";
import { backendKey, type OpenProvider } from "@shedkit/provider/conformance";
import { ScriptedServer, type ServerAnswer } from "@shedkit/testing";
import { Messages } from "@shedkit/types";
import { ResponsesProvider } from "../src/index.js";

/** Sends what goes to OpenAI to the scripted server. */
function toServer(server: ScriptedServer): typeof fetch {
  return (input, init) => fetch(String(input).replace("https://api.openai.com", server.url), init);
}

/** A provider on a scripted server: as OpenAI itself, or as a server that speaks like it. */
export function connect(
  server: ScriptedServer,
  as: "openai" | "compatible",
  more: Partial<CloudProviderConfig> = {},
): ResponsesProvider {
  return ResponsesProvider.withConfig({
    apiKey: new Secret(backendKey),
    maxRetries: 0,
    ...(as === "openai" ? { fetch: toServer(server) } : { baseUrl: `${server.url}/v1` }),
    ...more,
  });
}

/** Opens for the conformance kit. */
export function opener(as: "openai" | "compatible", model: string): OpenProvider {
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
  return { model: { name: "gpt-5.4" }, messages, tools: { tools: [], activations: [] }, params: {}, ...more };
}

/** Asks once for each answer; gives back what came and what was sent. */
export async function exchange(
  answers: readonly ServerAnswer[],
  more: Partial<ModelRequest> = {},
  {
    as = "compatible",
    times = 1,
    ...config
  }: Partial<CloudProviderConfig> & { as?: "openai" | "compatible"; times?: number } = {},
): Promise<{ events: ModelEvent[]; bodies: { [key: string]: unknown }[] }> {
  await using server = await ScriptedServer.start(answers);
  const provider = connect(server, as, config);
  const events: ModelEvent[] = [];
  for (let i = 0; i < times; i++) for await (const event of provider.stream(question(more))) events.push(event);
  return { events, bodies: server.requests.map((request) => request.body as { [key: string]: unknown }) };
}

/** The finished blocks. */
export function outputs(events: readonly ModelEvent[]): unknown[] {
  return events.flatMap((event) => (event.type === "output" ? [event.output] : []));
}
