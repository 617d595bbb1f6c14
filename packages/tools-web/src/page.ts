import { ToolError } from "@shedkit/tool";
import type { WebClient, WebResponse } from "./client.js";
import { markdownOf } from "./markdown.js";

/** A page as it is shown. */
export interface Page {
  url: string;
  title?: string | undefined;
  text: string;
  /** True where the page is longer than what was loaded. */
  truncated: boolean;
}

/** What came of a request that gave no page. */
export class NoPage extends Error {
  readonly detail: string;

  constructor(detail: string, text: string) {
    super(text);
    this.detail = detail;
  }
}

const MAX_URL = 2000;
const MAX_HOPS = 10;
const HEADERS = {
  accept: "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.1",
  "accept-encoding": "gzip, deflate, br",
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
  if (url.protocol === "http:" && !isLocal(url.hostname)) url.protocol = "https:";
  url.hash = "";
  return url;
}

/** True for the names of this machine itself. */
export function isLocal(hostname: string): boolean {
  return hostname === "localhost" || hostname.endsWith(".localhost") || /^127(?:\.\d+){3}$|^\[::1\]$/.test(hostname);
}

/** Loads a page, over redirections on the same host. Throws NoPage, ToolError. */
export async function loadPage(
  client: WebClient,
  address: URL,
  options: { maxBytes: number; signal: AbortSignal },
): Promise<Page> {
  let url = address;
  for (let hop = 0; hop <= MAX_HOPS; hop++) {
    const response = await client.get(url, { ...options, headers: HEADERS });
    const { location } = response.headers;
    if (response.status < 300 || response.status > 399 || location === undefined) return pageOf(url, response);
    if (!URL.canParse(location, url)) throw new NoPage("bad redirection", `${url.href} leads to no URL.`);
    const next = addressOf(new URL(location, url).href);
    if (next.host !== url.host) {
      const text = `${url.href} leads to another host: ${next.href}\nIf you want that page, fetch it by this URL.`;
      throw new NoPage("leads elsewhere", text);
    }
    url = next;
  }
  throw new NoPage("too many redirections", `${address.href} leads on and on, more than ${MAX_HOPS} times.`);
}

function pageOf(url: URL, response: WebResponse): Page {
  const { status, headers, body, truncated } = response;
  const type = (headers["content-type"] ?? "text/plain").toLowerCase();
  const mime = type.split(";")[0]?.trim() ?? "";
  const isText = /^text\/|[/+](?:json|xml|yaml|javascript|x-ndjson|toml)$/.test(mime);
  const text = isText ? textOf(body, type) : "";
  const isPage = mime === "text/html" || mime === "application/xhtml+xml";
  const page = isPage ? markdownOf(text, url) : { title: undefined, text };
  if (status >= 400) {
    const said = page.text === "" ? "" : `\nIt says: ${page.text.slice(0, 1000)}`;
    throw new NoPage(`HTTP ${status}`, `${url.href} answered with HTTP ${status}.${said}`);
  }
  if (!isText || body.subarray(0, 1024).includes(0) || isKnownBinary(body)) {
    throw new NoPage("no text", `${url.href} is no text (${mime}, ${body.length} bytes). Only text can be shown.`);
  }
  return { url: url.href, ...(page.title === undefined ? {} : { title: page.title }), text: page.text, truncated };
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

function textOf(body: Uint8Array, type: string): string {
  const start = new TextDecoder("latin1").decode(body.subarray(0, 2048));
  const named =
    /charset\s*=\s*["']?([\w-]+)/.exec(type)?.[1] ?? /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]+)/i.exec(start)?.[1];
  try {
    return new TextDecoder(named ?? "utf-8").decode(body);
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder().decode(body); // an encoding that nobody knows
    throw error;
  }
}

/** Faults of a client, under the name that the call used. */
export function renamed(error: unknown, tool: string): unknown {
  return error instanceof ToolError ? new ToolError(error.kind, tool, error.message, { cause: error }) : error;
}
