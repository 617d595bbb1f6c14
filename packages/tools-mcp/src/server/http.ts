import { type Transport, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { ServeHttpOptions } from "./options.js";

const MAX_CLIENTS = 100;
const LOCAL = ["localhost", "127.0.0.1", "[::1]"];
const SESSION = "mcp-session-id";

/** The clients of one HTTP address, by session. */
export class HttpClients {
  readonly #connect: (transport: Transport) => Promise<void>;
  readonly #options: ServeHttpOptions;
  /** In the order in which they were last heard of. */
  readonly #sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  #closed = false;

  constructor(connect: (transport: Transport) => Promise<void>, options: ServeHttpOptions) {
    this.#connect = connect;
    this.#options = options;
  }

  async answer(request: Request): Promise<Response> {
    const refusal = this.#refuse(request);
    if (refusal !== undefined) return refusal;
    const id = request.headers.get(SESSION);
    if (id !== null) {
      const known = this.#sessions.get(id);
      if (known === undefined) return error(404, "The session is not known, or has ended. Initialize anew.");
      this.#sessions.delete(id);
      this.#sessions.set(id, known);
      return known.handleRequest(request);
    }
    if (request.method !== "POST") return error(400, `The header ${SESSION} is missing.`);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (session) => this.#add(session, transport),
      onsessionclosed: (session) => void this.#sessions.delete(session),
    });
    await this.#connect(transport);
    const response = await transport.handleRequest(request);
    if (transport.sessionId === undefined) void transport.close(); // it was no beginning of a session
    return response;
  }

  close(): void {
    this.#closed = true;
    this.#sessions.clear();
  }

  #add(session: string, transport: WebStandardStreamableHTTPServerTransport): void {
    const [oldest] = this.#sessions;
    if (oldest !== undefined && this.#sessions.size >= (this.#options.maxClients ?? MAX_CLIENTS)) {
      this.#sessions.delete(oldest[0]);
      void oldest[1].close();
    }
    this.#sessions.set(session, transport);
  }

  /** A page in a browser could reach this machine by a name of its own; what it sends tells it apart. */
  #refuse(request: Request): Response | undefined {
    if (this.#closed) return error(503, "The server is closed.");
    const { hosts = LOCAL, token } = this.#options;
    const host = hostOf(`http://${request.headers.get("host") ?? new URL(request.url).host}`);
    if (!hosts.includes(host)) return error(403, "This host is not served.");
    const origin = request.headers.get("origin");
    if (origin !== null && !hosts.includes(hostOf(origin))) return error(403, "Pages of this origin are not served.");
    if (token !== undefined && !sameText(request.headers.get("authorization") ?? "", `Bearer ${token.reveal()}`))
      return error(401, "The token is missing or not the right one.", { "www-authenticate": "Bearer" });
    return undefined;
  }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : "";
}

/** In a time that tells nothing of where they differ. */
function sameText(a: string, b: string): boolean {
  const [left, right] = [new TextEncoder().encode(a), new TextEncoder().encode(b)];
  let differs = left.length ^ right.length;
  for (let i = 0; i < right.length; i++) differs |= (left[i] ?? 0) ^ (right[i] ?? 0);
  return differs === 0;
}

function error(status: number, message: string, headers: { [name: string]: string } = {}): Response {
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32000, message } });
  return new Response(body, { status, headers: { "content-type": "application/json", ...headers } });
}
