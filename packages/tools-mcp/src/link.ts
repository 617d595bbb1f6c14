import type { OAuthClientProvider, Transport } from "@modelcontextprotocol/client";
import type { McpEndpoint, McpProcess } from "./config.js";

/** One way to a server. */
export interface McpLink {
  readonly transport: Transport;
  /** What is known of its end, for messages: exit code, last lines of its error output. Default: nothing. */
  describeEnd?(): string;
  /** Tells the server that its session is over. */
  sayGoodbye?(): Promise<void>;
  /** Ends the OAuth flow that the server asked for, with the parameters that came back. */
  finishAuth?(callback: URLSearchParams): Promise<void>;
}

/** Starts a server's process. `spawnServer` of `@shedkit/tools-mcp/node` does. */
export type SpawnServer = (process: McpProcess, name: string) => McpLink;

/** What links are made with. */
export interface LinkOptions {
  /** Starts servers that are processes. Default: none can be. */
  spawn?: SpawnServer | undefined;
  /** By server: where its OAuth tokens are kept, and how its user is asked. Default: none; the headers are sent alone. */
  auth?: { readonly [server: string]: OAuthClientProvider } | undefined;
  /** Default: the global one. */
  fetch?: typeof fetch | undefined;
}

/** A new way to a server. Loads the SDK's HTTP transport where it is used. */
export async function openLink(name: string, reach: McpProcess | McpEndpoint, options: LinkOptions): Promise<McpLink> {
  if (reach.type === "stdio") {
    if (options.spawn === undefined) throw new Error(NO_SPAWN);
    return options.spawn(reach, name);
  }
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const headers = Object.entries(reach.headers).map(([key, value]): [string, string] => [key, value.reveal()]);
  const authProvider = options.auth?.[name];
  const transport = new StreamableHTTPClientTransport(new URL(reach.url), {
    requestInit: { headers: Object.fromEntries(headers) },
    reconnectionOptions: RECONNECTION,
    ...(authProvider && { authProvider }),
    ...(options.fetch && { fetch: options.fetch }),
  });
  return {
    transport,
    sayGoodbye: () => transport.terminateSession(),
    finishAuth: (callback) => transport.finishAuth(callback),
  };
}

const NO_SPAWN =
  'no process can be started here; give `spawn: spawnServer` from "@shedkit/tools-mcp/node", or a url in place of the command';

/** Of the stream on which a server says that something changed. */
const RECONNECTION = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 10,
};
