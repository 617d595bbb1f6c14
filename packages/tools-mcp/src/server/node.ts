import type { Buffer } from "node:buffer";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { Readable, type Writable } from "node:stream";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { ServeHttpOptions } from "./options.js";
import type { ServedShed } from "./serve.js";

/**
 * Serves one client over standard input and output; resolves when it has gone. Nothing else may write to the output:
 * log to the error output.
 */
export async function serveStdio(
  served: ServedShed,
  {
    input = process.stdin,
    output = process.stdout,
  }: { input?: Readable | undefined; output?: Writable | undefined } = {},
): Promise<void> {
  const gone = new Promise<void>((resolve) => {
    input.once("end", resolve);
    input.once("close", resolve);
    output.once("error", () => resolve()); // nobody reads any more
  });
  await served.connect(new StdioServerTransport(input, output));
  await gone;
  await served.close();
}

/** Where a shed is served over HTTP. */
export interface ShedListenOptions extends ServeHttpOptions {
  /** Default: 0, any free one. */
  port?: number | undefined;
  /** The address to listen on. Default: `127.0.0.1`, this machine alone. */
  address?: string | undefined;
  /** Default: `/mcp`. */
  path?: string | undefined;
}

/** A shed that listens. */
export interface ListeningShed {
  readonly url: string;
  /** Ends the listening and all clients. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Serves a shed over HTTP; resolves when it listens, rejects where it cannot. */
export async function listenHttp(served: ServedShed, options: ShedListenOptions = {}): Promise<ListeningShed> {
  const { port = 0, address = "127.0.0.1", path = "/mcp", ...settings } = options;
  const answer = served.http(settings);
  const server = createServer((request, response) => {
    void respond(request, response, path, answer).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, resolve);
  });
  const host = address.includes(":") ? `[${address}]` : address;
  const close = async (): Promise<void> => {
    await served.close();
    await closed(server);
  };
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}${path}`,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  answer: (request: Request) => Promise<Response>,
): Promise<void> {
  const url = URL.canParse(request.url ?? "", "http://localhost")
    ? new URL(request.url ?? "", "http://localhost")
    : undefined;
  if (url?.pathname !== path) {
    response.writeHead(404).end();
    return;
  }
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const reply = await answer(toWebRequest(request, url, gone.signal));
  response.writeHead(reply.status, Object.fromEntries(reply.headers));
  if (reply.body === null) {
    response.end();
    return;
  }
  response.flushHeaders();
  const reader = reply.body.getReader();
  gone.signal.addEventListener("abort", () => void reader.cancel().catch(() => {}), { once: true });
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (!response.write(next.value)) await drained(response);
  }
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.once("drain", done).once("close", done);
  });
}

function toWebRequest(request: IncomingMessage, url: URL, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    for (const one of Array.isArray(value) ? value : value === undefined ? [] : [value]) headers.append(name, one);
  const { method = "GET" } = request;
  if (method === "GET" || method === "HEAD") return new Request(url, { method, headers, signal });
  const body = Readable.toWeb(request) as ReadableStream<Buffer>;
  return new Request(url, { method, headers, body, signal, duplex: "half" } as RequestInit);
}
