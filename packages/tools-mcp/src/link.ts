import type { OAuthClientProvider, Transport } from "@modelcontextprotocol/client";
import { boundedFetch } from "./bounded-fetch.js";
import type { McpEndpoint, McpProcess } from "./config.js";
import { guardedFetch } from "./guarded-fetch.js";

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

/** The SDK. It takes longer to load than all of ours, so that a program which only reads its settings is spared it. */
export type Sdk = typeof import("@modelcontextprotocol/client");

export function loadSdk(): Promise<Sdk> {
  return import("@modelcontextprotocol/client");
}

/** A new way to a server. */
export function openLink(sdk: Sdk, name: string, reach: McpProcess | McpEndpoint, options: LinkOptions): McpLink {
  if (reach.type === "stdio") {
    if (options.spawn === undefined) throw new Error(NO_SPAWN);
    return options.spawn(reach, name);
  }
  const headers = Object.entries(reach.headers).map(([key, value]): [string, string] => [key, value.reveal()]);
  const authProvider = options.auth?.[name];
  const transport = new sdk.StreamableHTTPClientTransport(new URL(reach.url), {
    requestInit: { headers: Object.fromEntries(headers) },
    reconnectionOptions: RECONNECTION,
    fetch: boundedFetch(guardedFetch(new URL(reach.url), options.fetch)),
    ...(authProvider && { authProvider }),
  });
  answerBrokenStreams(transport);
  boundAnswers(transport);
  return {
    transport,
    sayGoodbye: () => transport.terminateSession(),
    finishAuth: (callback) => transport.finishAuth(callback),
  };
}

/** Of the answer to a call whose stream broke off. */
export const LOST = -32099;

/** The SDK waits on for an answer whose stream of events broke off, or ended without it. We answer in the server's place. */
function answerBrokenStreams(transport: InstanceType<Sdk["StreamableHTTPClientTransport"]>): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options = {}) => {
    const id = Array.isArray(message) || !("method" in message) || !("id" in message) ? undefined : message.id;
    if (id === undefined || options.onRequestStreamEnd !== undefined) return send(message, options);
    const answer = (): void => transport.onmessage?.({ jsonrpc: "2.0", id, error: { code: LOST, message: "" } });
    // After the server's own answer, which then is the one that counts.
    return send(message, { ...options, onRequestStreamEnd: () => void setTimeout(answer) });
  };
}

/** Answers that are on their way to a server at once; what more it asks meanwhile gets none. */
const MAX_ANSWERS = 100;

/** Each answer is a request of its own over HTTP: a server must not be able to make any number of them. */
function boundAnswers(transport: InstanceType<Sdk["StreamableHTTPClientTransport"]>): void {
  const send = transport.send.bind(transport);
  let under = 0;
  transport.send = async (message, options) => {
    const isAnswer = !Array.isArray(message) && !("method" in message);
    if (!isAnswer) return send(message, options);
    if (under >= MAX_ANSWERS) return;
    under++;
    try {
      await send(message, options);
    } finally {
      under--;
    }
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
