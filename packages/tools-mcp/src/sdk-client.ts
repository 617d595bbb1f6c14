import type { Client } from "@modelcontextprotocol/client";
import type { McpServerSettings } from "./config.js";
import type { ListedTool } from "./definition.js";
import type { Sdk } from "./link.js";

const MAX_TOOLS = 10_000;
const MAX_PAGES = 1000;

/** The SDK's own limit would fire first otherwise; ours are those of the tools and of `connectTimeoutMs`. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** A client of the SDK for one connection. */
export function newClient({ Client }: Sdk, { reach }: McpServerSettings, listChanged: () => void): Client {
  return new Client(
    { name: "shedkit", version: "0.1.0" },
    {
      // Schemas are read by the tool set, under limits; the SDK would make code of them.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
      listMaxPages: MAX_PAGES,
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: listChanged } },
      // A process that was not made for it may end at the question which versions it speaks.
      versionNegotiation: { mode: reach.type === "http" ? "auto" : "legacy" },
    },
  );
}

/** All that the server lists, where it has tools at all; `left` beyond those that are taken. */
export async function listTools(
  client: Client,
  signal: AbortSignal,
): Promise<{ tools: readonly ListedTool[]; left: number }> {
  if (client.getServerCapabilities()?.tools === undefined) return { tools: [], left: 0 };
  const { tools } = await client.listTools(undefined, { signal, timeout: MAX_TIMER_MS, cacheMode: "bypass" });
  return { tools: tools.slice(0, MAX_TOOLS), left: Math.max(0, tools.length - MAX_TOOLS) };
}
