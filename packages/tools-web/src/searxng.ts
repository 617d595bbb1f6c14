import { ToolError, type ToolErrorKind } from "@shedkit/tool";
import type { SearchClient, SearchHit, SearchOptions } from "./search-client.js";

/** Where a SearXNG instance is, and what it is asked for. */
export interface SearxngOptions {
  /** Where the instance is, e.g. `http://localhost:8888`; it must answer with `format=json` (its setting `search.formats`). */
  baseUrl: string;
  /** e.g. `en`. Default: the instance's. */
  language?: string | undefined;
  /** e.g. `["general", "it"]`. Default: the instance's. */
  categories?: readonly string[] | undefined;
  /** e.g. for an instance behind a login. */
  headers?: { readonly [name: string]: string } | undefined;
  /** Default: the platform's. */
  fetch?: typeof fetch | undefined;
}

const MAX_BYTES = 5 * 1024 * 1024;

/** Searches by an instance of SearXNG, through its JSON. Throws TypeError for a `baseUrl` that is no HTTP URL. */
export function searxng({ baseUrl, language, categories, headers, fetch: ask = fetch }: SearxngOptions): SearchClient {
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw new TypeError(`searxng: baseUrl must be a URL that begins with http:// or https://, not "${baseUrl}".`);
  }
  const base = new URL(baseUrl);
  return {
    search: async (query, options) => {
      const url = new URL(`${base.pathname.replace(/\/$/, "")}/search`, base);
      url.searchParams.set("q", withDomains(query, options.domains));
      url.searchParams.set("format", "json");
      url.searchParams.set("pageno", String(options.page));
      if (language !== undefined) url.searchParams.set("language", language);
      if (categories?.length) url.searchParams.set("categories", categories.join(","));
      return hitsOf(await bodyOf(ask, url, { accept: "application/json", ...headers }, options));
    },
  };
}

async function bodyOf(
  ask: typeof fetch,
  url: URL,
  headers: { readonly [name: string]: string },
  { signal }: SearchOptions,
): Promise<string> {
  let response: Response;
  try {
    response = await ask(url, { headers, signal, redirect: "manual" });
  } catch (cause) {
    signal.throwIfAborted();
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ToolError("network", "web", `The search engine could not be reached: ${why}`, { cause });
  }
  if (!response.ok) {
    await response.body?.cancel();
    throw refused(response, url);
  }
  try {
    return await textOf(response);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof ToolError) throw cause;
    throw new ToolError("network", "web", "The search engine's answer broke off.", { cause });
  }
}

function refused({ status, headers }: Response, asked: URL): ToolError {
  const to = headers.get("location");
  if (status < 400 && to !== null) {
    // What it was asked with (its headers, the query) is for it alone.
    const where = URL.canParse(to, asked) ? new URL(to, asked).origin : "what is no address";
    const text = `The search engine at ${asked.origin} sends on to ${where}. The user has to set its address (baseUrl) right.`;
    return new ToolError("serviceUnavailable", "web", text);
  }
  const kind: ToolErrorKind = status === 429 ? "rateLimited" : status === 403 ? "unauthorized" : "serviceUnavailable";
  const why =
    status === 429
      ? " It was asked too often; wait before you search again."
      : status === 403
        ? " It may not be set up to answer with JSON."
        : "";
  return new ToolError(kind, "web", `The search engine answered with HTTP ${status}.${why}`);
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > MAX_BYTES) throw new ToolError("execution", "web", "The search engine's answer is too long.");
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

function hitsOf(body: string): SearchHit[] {
  let results: unknown;
  try {
    results = (JSON.parse(body) as { results?: unknown } | null)?.results;
  } catch {
    results = undefined;
  }
  if (!Array.isArray(results)) {
    throw new ToolError("execution", "web", "The search engine's answer is not what SearXNG answers with format=json.");
  }
  return results.flatMap((result: { [key: string]: unknown } | null): SearchHit[] => {
    const { url, title, content, publishedDate } = result ?? {};
    if (typeof url !== "string") return [];
    const published = typeof publishedDate === "string" ? { published: publishedDate } : {};
    return [{ url, title: String(title ?? ""), snippet: String(content ?? ""), ...published }];
  });
}

function withDomains(query: string, domains: readonly string[]): string {
  if (domains.length === 0) return query;
  return `${query} (${domains.map((domain) => `site:${domain}`).join(" OR ")})`;
}
