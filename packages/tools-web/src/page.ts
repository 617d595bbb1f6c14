import { asData, ToolError } from "@shedkit/tool";
import { decoded, strictly } from "./charset.js";
import type { WebClient, WebResponse } from "./client.js";
import { isCalledRightly, mediaTypeOf, type WebFile } from "./files.js";
import { markdownOf } from "./markdown.js";
import { NoPage } from "./no-page.js";
import { freshMs } from "./page-cache.js";

/** A page as it is shown. */
export interface Page {
  url: string;
  title?: string | undefined;
  text: string;
  /** True where the page is longer than what was loaded. */
  truncated: boolean;
  /** How long it may be shown again, in milliseconds, as its server says. */
  freshMs: number;
}

/** In characters. */
export const MAX_URL = 2000;
const MAX_HOPS = 10;
const HEADERS = {
  accept: "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.1",
  "accept-encoding": "gzip, br",
  "user-agent": "Mozilla/5.0 (compatible; shedkit; +https://github.com/shedkit/shedkit)",
};

/** An address that may be asked for. Plain HTTP becomes HTTPS, but on this machine. Throws NoPage. */
export function addressOf(text: string): URL {
  const trimmed = text.trim();
  const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined;
  if (trimmed.length > MAX_URL) throw new NoPage("too long", `The URL has more than ${MAX_URL} characters.`);
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new NoPage("no URL", `${JSON.stringify(trimmed)} is no URL of a page. Give one that begins with https://.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new NoPage("a password", "The URL has a user name or password in it. Leave it out.");
  }
  if (!isLocal(url.hostname) && !/[.:]/.test(url.hostname.replace(/\.$/, ""))) {
    throw new NoPage("no public host", `"${url.hostname}" is no host on the web. Give its full name.`);
  }
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.slice(0, -1);
  if (url.protocol === "http:" && !isLocal(url.hostname)) url.protocol = "https:";
  url.hash = "";
  return url;
}

/** True for the names of this machine itself. */
export function isLocal(hostname: string): boolean {
  return hostname === "localhost" || hostname.endsWith(".localhost") || /^127(?:\.\d+){3}$|^\[::1\]$/.test(hostname);
}

/**
 * Loads a page or a file, over redirections on the same host. `check` throws for an address that must not be asked for. Throws
 * NoPage, ToolError.
 */
export async function loadPage(
  client: WebClient,
  address: URL,
  { check, ...options }: { maxBytes: number; signal: AbortSignal; check: (url: URL) => void },
): Promise<Page | (WebFile & { freshMs: number })> {
  let url = address;
  for (let hop = 0; hop <= MAX_HOPS; hop++) {
    check(url);
    const response = await client.get(url, { ...options, headers: HEADERS });
    const { location } = response.headers;
    if (response.status < 300 || response.status > 399 || location === undefined)
      return pageOf(url, response, options.signal);
    if (!URL.canParse(location, url)) throw new NoPage("bad redirection", `${url.href} leads to no URL.`);
    const next = addressOf(new URL(location, url).href);
    if (next.host !== url.host) {
      check(next);
      const text = `${url.href} leads to another host: ${next.href}\nIf you want that page, fetch it by this URL.`;
      throw new NoPage("leads elsewhere", text);
    }
    url = next;
  }
  throw new NoPage("too many redirections", `${address.href} leads on and on, more than ${MAX_HOPS} times.`);
}

async function pageOf(
  url: URL,
  response: WebResponse,
  signal: AbortSignal,
): Promise<Page | (WebFile & { freshMs: number })> {
  const { status, headers, body, truncated } = response;
  const type = headers["content-type"] ?? "text/plain";
  const mime = type.split(";")[0]?.trim().toLowerCase() ?? "";
  const file = status < 400 ? mediaTypeOf(body) : undefined;
  if (file !== undefined) {
    if (!isCalledRightly(file, headers["content-type"] === undefined ? "" : mime)) {
      throw new NoPage("no text", `${url.href} is called ${mime}, and is ${file}: it is not what its server says.`);
    }
    if (truncated) throw new NoPage("too large", `${url.href} (${file}) has more than ${body.length} bytes.`);
    return { url: url.href, mediaType: file, bytes: body, freshMs: freshMs(headers) };
  }
  const text = textOf(body, type, mime);
  const isPage = mime === "text/html" || mime === "application/xhtml+xml";
  const page =
    text !== undefined && isPage ? await markdownOf(text, url, signal) : { title: undefined, text: text ?? "" };
  const shown = withoutData(asData(page.text));
  if (status >= 400) {
    const said = shown === "" ? "" : `\nIt says: ${shown.slice(0, 1000)}`;
    throw new NoPage(`HTTP ${status}`, `${url.href} answered with HTTP ${status}.${said}`);
  }
  if (text === undefined) {
    throw new NoPage("no text", `${url.href} is no text (${mime}, ${body.length} bytes). Only text can be shown.`);
  }
  const title = page.title === undefined ? "" : asData(page.title).trim();
  return { url: url.href, ...(title !== "" && { title }), text: shown, truncated, freshMs: freshMs(headers) };
}

const DATA_URI = /(\bdata:[\w.+-]+\/[\w.+-]+(?:;[\w.=+-]+)*;base64,)[A-Za-z0-9+/_-]{65,}=*/g;

/** A text without the base64 of its data URIs: a picture would fill the whole page. */
function withoutData(text: string): string {
  return text.replace(DATA_URI, "$1[left out]");
}

const TEXT = /^text\/|[/+](?:x-)?(?:json|json5|xml|yaml|javascript|typescript|ndjson|jsonlines|toml|sh|sql|graphql)$/;
/** What servers call files that they know nothing of. */
const ANYTHING = /^application\/(?:octet-stream|x-unknown)$|^binary\/octet-stream$/;

/** Undefined for what is no text, whatever it is called. */
function textOf(body: Uint8Array, type: string, mime: string): string | undefined {
  if (isKnownBinary(body)) return undefined;
  const text = TEXT.test(mime) ? decoded(body, type, mime) : ANYTHING.test(mime) ? strictly(body) : undefined;
  return text?.slice(0, 1024).includes("\0") ? undefined : text;
}

const BINARY = [
  "%PDF-",
  "\x89PNG",
  "GIF87a",
  "GIF89a",
  "\xff\xd8\xff",
  "PK\x03\x04",
  "\x1f\x8b",
  "RIFF",
  "7z\xbc\xaf",
  "\x7fELF",
];

/** What begins as documents, archives and pictures do, whatever it is called. */
function isKnownBinary(body: Uint8Array): boolean {
  const start = String.fromCharCode(...body.subarray(0, 8));
  return BINARY.some((mark) => start.startsWith(mark));
}

/** Faults of a client, under the name that the call used. */
export function renamed(error: unknown, tool: string): unknown {
  return error instanceof ToolError ? new ToolError(error.kind, tool, error.message, { cause: error }) : error;
}
