import { asData, ToolError, type ToolErrorKind } from "@shedkit/tool";
import type { JsonValue } from "@shedkit/types";
import { bytesOf, textOf } from "./body.js";

/** Where a service is, and how it is asked. */
export interface MediaEndpoint {
  /** Up to the version, e.g. `https://api.openai.com/v1`, `http://localhost:8091/v1`. */
  baseUrl: string;
  /** Sent as a bearer token, to `baseUrl` and nowhere else: a text, or a `Secret`. Default: none. */
  apiKey?: string | { reveal(): string } | undefined;
  /** Default: the service's own. */
  model?: string | undefined;
  headers?: { readonly [name: string]: string } | undefined;
  /** What else the service is told with each request, by its own names, e.g. `{ quality: "low" }`. Default: nothing. */
  extra?: { readonly [field: string]: JsonValue } | undefined;
  /** How often a request that was not carried out is made once more. Default: 2. */
  maxRetries?: number | undefined;
  /** The longest wait that a service may ask for before it is asked again, in milliseconds. Default: 60,000. */
  maxRetryWaitMs?: number | undefined;
  /** Default: the platform's. */
  fetch?: typeof fetch | undefined;
}

export interface Asking {
  method: "GET" | "POST" | "DELETE";
  headers?: { readonly [name: string]: string } | undefined;
  body?: string | FormData | undefined;
  signal: AbortSignal;
}

const MAX_ERROR_BYTES = 64 * 1024;
const MAX_SAID = 500;
const MAX_REDIRECTS = 5;
const FIRST_WAIT_MS = 500;

/** Asks one service. Throws TypeError for a `baseUrl` that is no HTTP URL. */
export class Endpoint {
  readonly base: URL;
  readonly #options: MediaEndpoint;

  constructor(owner: string, options: MediaEndpoint) {
    const { baseUrl } = options;
    if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
      throw new TypeError(`${owner}: baseUrl must be a URL that begins with http:// or https://, not "${baseUrl}".`);
    }
    this.base = new URL(baseUrl);
    this.#options = options;
  }

  get host(): string {
    return this.base.host;
  }

  url(path: string): URL {
    return new URL(`${this.base.pathname.replace(/\/+$/, "")}/${path}`, this.base);
  }

  /**
   * The answer to a request, where it is a good one. What was not carried out is asked once more, after the wait that
   * the service asks for: everything that only reads, and what makes something where the service says that it did
   * not. Rejects with ToolError, or with the reason of an aborted signal.
   */
  async ask(url: URL, asking: Asking): Promise<Response> {
    const { maxRetries = 2, maxRetryWaitMs = 60_000 } = this.#options;
    for (let attempt = 0; ; attempt++) {
      const fault = await this.#once(url, asking).catch((error: unknown) => {
        asking.signal.throwIfAborted();
        if (error instanceof ToolError) return error;
        const why = error instanceof Error ? reasonOf(error) : String(error);
        return new ToolError("network", "media", `${url.host} could not be reached: ${this.#clean(why)}.`, {
          cause: error,
          retryable: asking.method !== "POST", // it may have arrived
        });
      });
      if (!(fault instanceof ToolError)) return fault;
      const wait = fault.retryAfterMs ?? FIRST_WAIT_MS * 2 ** attempt;
      if (!fault.retryable || attempt >= maxRetries || wait > maxRetryWaitMs) throw fault;
      await sleep(wait, asking.signal);
    }
  }

  async #once(url: URL, { method, headers, body, signal }: Asking): Promise<Response> {
    const { fetch: send = fetch } = this.#options;
    let at = url;
    for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
      const own = at.origin === this.base.origin ? this.#credentials() : {};
      const init = { method, headers: { ...headers, ...own }, signal, redirect: "manual" as const };
      const response = await send(at, body === undefined ? init : { ...init, body });
      const to = response.headers.get("location");
      if (response.status < 300 || response.status > 399 || to === null) {
        if (response.ok) return response;
        throw await this.#refusal(at, method, response);
      }
      await response.body?.cancel();
      if (method !== "GET")
        throw unexpected(`${at.host} sends the request elsewhere, which is not followed. Is its address right?`);
      at = this.assertReachable(to, at);
    }
    throw unexpected(`${url.host} sends from one address to the next.`);
  }

  /**
   * The address of something that the service tells to load. From its own address it may be anywhere; elsewhere only
   * over HTTPS, and not at an address of a network inside.
   */
  assertReachable(address: string, from: URL = this.base): URL {
    if (!URL.canParse(address, from)) throw unexpected(`${this.host} tells to load from what is no address.`);
    const url = new URL(address, from);
    if (url.origin === this.base.origin) return url;
    const name = url.hostname.replace(/\.$/, "");
    const inside = !name.includes(".") || /^\[|^[\d.]+$|\.(?:localhost|local|internal|home\.arpa)$/.test(name);
    if (url.protocol !== "https:" || inside || url.username !== "" || url.password !== "") {
      const text = `${this.host} tells to load from ${url.origin}, which must not be reached for it.`;
      throw new ToolError("permissionDenied", "media", text);
    }
    return url;
  }

  /** The object that a good answer holds. */
  async json(response: Response, maxBytes: number, signal: AbortSignal): Promise<{ [key: string]: unknown }> {
    const text = await textOf(response, maxBytes, this.host, signal);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      const type = response.headers.get("content-type")?.split(";")[0] ?? "something";
      throw unexpected(
        `${this.host} answered with ${type} that is no JSON. Is its address right, up to the version (/v1)?`,
      );
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw unexpected(`${this.host} answered with JSON that is no object.`);
    }
    return value as { [key: string]: unknown };
  }

  /** What a service says of an error, in the forms that are used: without the key, and in short. */
  saidIn(body: unknown): string | undefined {
    const said = saying(body);
    return said === undefined || said.trim() === "" ? undefined : this.plain(said, MAX_SAID);
  }

  /** A text of the service, on one line: as data, without the key, and cut. */
  plain(text: string, max: number): string {
    const line = this.#clean(
      asData(text.slice(0, 4 * max))
        .replace(/\s+/g, " ")
        .trim(),
    );
    return line.length <= max ? line : `${line.slice(0, max).replace(/[\ud800-\udbff]$/, "")}...`;
  }

  #credentials(): { [name: string]: string } {
    const { headers, apiKey } = this.#options;
    const key = typeof apiKey === "object" ? apiKey.reveal() : apiKey;
    return { ...headers, ...(key !== undefined && key !== "" && { authorization: `Bearer ${key}` }) };
  }

  #clean(text: string): string {
    const secrets = Object.values(this.#credentials()).map((value) => value.replace(/^Bearer /, ""));
    return secrets.reduce((clean, secret) => (secret.length >= 5 ? clean.replaceAll(secret, "[secret]") : clean), text);
  }

  async #refusal(url: URL, method: Asking["method"], response: Response): Promise<ToolError> {
    const { status } = response;
    const bytes = await bytesOf(response, MAX_ERROR_BYTES, url.host, { cut: true }).catch(() => new Uint8Array());
    const text = new TextDecoder().decode(bytes);
    const said = this.saidIn(parsed(text) ?? (/^\s*</.test(text) ? undefined : text));
    const spent = /insufficient_quota|billing/.test(text.slice(0, 2000));
    const wait = waitOf(response.headers);
    const kind: ToolErrorKind = kindOf(status);
    const when = wait === undefined || status < 400 ? "" : ` It may be asked again in ${Math.ceil(wait / 1000)} s.`;
    const what = said === undefined ? `HTTP ${status}.` : `HTTP ${status}: ${/[.!?]$/.test(said) ? said : `${said}.`}`;
    return new ToolError(kind, "media", `${url.host} answered with ${what}${when}${adviceOn(kind)}`, {
      status,
      // 429 and 503 say that nothing was done; the others leave it open, which is good enough for what only reads.
      retryable:
        !spent && (status === 429 || status === 503 || (method !== "POST" && (status >= 500 || status === 408))),
      ...(wait !== undefined && { retryAfterMs: wait }),
    });
  }
}

/** An answer that is not what such a service answers. */
export function unexpected(text: string): ToolError {
  return new ToolError("execution", "media", text);
}

function kindOf(status: number): ToolErrorKind {
  if (status === 401 || status === 403) return "unauthorized";
  if (status === 404 || status === 410) return "notFound";
  if (status === 408 || status === 504) return "timeout";
  if (status === 429) return "rateLimited";
  return status >= 500 ? "serviceUnavailable" : "execution";
}

function adviceOn(kind: ToolErrorKind): string {
  if (kind === "unauthorized") return " Its key is for the user to mend.";
  return kind === "rateLimited" ? " Do something else meanwhile." : "";
}

/** `Retry-After`, in milliseconds. A date is counted from the answer's own, whatever the clock here says. */
function waitOf(headers: Headers): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (ms >= 0) return ms;
  const text = headers.get("retry-after")?.trim();
  if (text === undefined || text === "") return undefined;
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const wait = Date.parse(text) - Date.parse(headers.get("date") ?? "");
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

/** `{ error: { message } }` of OpenAI, `{ error }`, `{ message }`, `{ detail }` of FastAPI, or a text. */
function saying(body: unknown, depth = 0): string | undefined {
  if (typeof body === "string") return body;
  if (typeof body !== "object" || body === null || depth > 3) return undefined;
  if (Array.isArray(body)) {
    const all = body.slice(0, 5).flatMap((one) => saying(one, depth + 1) ?? []);
    return all.length === 0 ? undefined : all.join("; ");
  }
  const { error, message, detail, msg, code } = body as { [key: string]: unknown };
  for (const part of [error, message, detail, msg]) {
    const said = saying(part, depth + 1);
    if (said !== undefined) return said;
  }
  return typeof code === "string" ? code : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What `fetch` says is "fetch failed"; the reason is its cause. */
function reasonOf(error: Error): string {
  const { cause } = error;
  if (cause instanceof AggregateError && cause.errors[0] instanceof Error) return cause.errors[0].message;
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message;
}

/** Rejects with the signal's reason. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const end = () => {
      signal.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(end, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
  });
}
