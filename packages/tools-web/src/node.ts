import { type LookupAddress, lookup } from "node:dns";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { ToolError } from "@shedkit/tool";
import type { WebClient, WebRequest, WebResponse } from "./client.js";
import { isLoopback, isPublic } from "./node/addresses.js";
import { isLocal } from "./page.js";

/** What a web client on this machine may reach. */
export interface NodeWebClientOptions {
  /** Also this machine, where it is named as such (`localhost`, `127.0.0.1`, `[::1]`). Default: false. */
  allowLocal?: boolean | undefined;
  /** Resolves names, always asked for all addresses. Default: the system's resolver. */
  lookup?: LookupFunction | undefined;
}

/**
 * Gets pages from the public web, and from nowhere else: each address is looked at when it is connected to, so that a name
 * which is resolved to another one meanwhile leads nowhere. Knows no proxy, keeps no cookies.
 */
export class NodeWebClient implements WebClient {
  readonly #allowLocal: boolean;
  readonly #lookup: LookupFunction;
  readonly #lookupLocal: LookupFunction;

  constructor(options: NodeWebClientOptions = {}) {
    this.#allowLocal = options.allowLocal ?? false;
    const resolve = options.lookup ?? (lookup as LookupFunction);
    this.#lookup = only(isPublic, resolve);
    this.#lookupLocal = only(isLoopback, resolve);
  }

  async get(url: URL, { headers, maxBytes, signal }: WebRequest): Promise<WebResponse> {
    const local = isLocal(url.hostname);
    const literal = url.hostname.replace(/^\[|\]$/g, "");
    if (local ? !this.#allowLocal : isIP(literal) && !isPublic(literal)) throw refused(url.hostname);
    signal.throwIfAborted();
    try {
      const response = await ask(url, headers, local ? this.#lookupLocal : this.#lookup, signal);
      try {
        return {
          status: response.statusCode ?? 0,
          headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
          ...(await bodyOf(response, url.host, maxBytes)),
        };
      } finally {
        response.destroy();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ToolError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new ToolError("network", "web", `${url.host} could not be reached: ${why}.`, { cause: error });
    }
  }
}

function ask(
  url: URL,
  headers: WebRequest["headers"],
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = url.protocol === "https:" ? requestHttps : requestHttp;
    // No shared agent: a connection that is kept was looked at for another request.
    const options = { headers: { ...headers }, signal, agent: false as const, lookup };
    request(url, options, resolve).on("error", reject).end();
  });
}

/** Resolves a name, if all that it stands for may be reached. */
function only(allowed: (address: string) => boolean, resolve: LookupFunction): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, "");
      const addresses: LookupAddress[] = typeof found === "string" ? [{ address: found, family: isIP(found) }] : found;
      const first = addresses[0];
      if (!first || !addresses.every(({ address }) => allowed(address))) return done(refused(hostname), "");
      if (options.all) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

function refused(host: string): ToolError & NodeJS.ErrnoException {
  return new ToolError(
    "permissionDenied",
    "web",
    `${host} is not on the public web, and must not be reached from here.`,
  );
}

/** The body, unpacked, up to so many bytes. */
async function bodyOf(
  response: IncomingMessage,
  host: string,
  maxBytes: number,
): Promise<{ body: Uint8Array; truncated: boolean }> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  let truncated = false;
  for await (const piece of unpacked(response, host)) {
    const bytes = piece as Uint8Array;
    pieces.push(bytes.subarray(0, maxBytes - length));
    truncated = length + bytes.length > maxBytes;
    length = Math.min(length + bytes.length, maxBytes);
    if (truncated) break;
  }
  return { body: Buffer.concat(pieces), truncated };
}

const UNPACKERS: { readonly [encoding: string]: () => Transform } = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

function unpacked(response: IncomingMessage, host: string): Readable {
  const encoding = response.headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return response;
  const make = Object.hasOwn(UNPACKERS, encoding) ? UNPACKERS[encoding] : undefined;
  if (make) return pipeline(response, make(), () => {}); // a failure comes out of what is read
  throw new ToolError("execution", "web", `${host} packed its answer as ${JSON.stringify(encoding)}, unasked.`);
}
