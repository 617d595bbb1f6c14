import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import type {
  OAuthClientInformationMixed,
  OAuthClientProvider,
  OAuthDiscoveryState,
  OAuthTokens,
} from "@modelcontextprotocol/client";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { Secret } from "@shedkit/provider";
import { ToolShed } from "@shedkit/shed";
import { FnTool } from "@shedkit/tool";
import { expect, onTestFinished, test } from "vitest";
import { serveShed } from "../src/server.js";
import { call, connect, textOf, until } from "./helpers.js";

const nothing = { type: "object" };
const shed = new ToolShed().tool(new FnTool("echo", "Echoes.", nothing, async () => "here"));

/** A server on loopback that answers web requests. */
async function listen(answer: (request: Request, origin: string) => Promise<Response>): Promise<string> {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    void (async () => {
      const body = request.method === "POST" ? await readText(request) : undefined;
      const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]);
      const gone = new AbortController();
      response.once("close", () => gone.abort());
      const init = {
        method: request.method ?? "GET",
        headers,
        signal: gone.signal,
        ...(body !== undefined && { body }),
      };
      const reply = await answer(new Request(`${origin}${request.url}`, init), origin);
      response.writeHead(reply.status, Object.fromEntries(reply.headers));
      response.flushHeaders();
      if (reply.body === null) response.end();
      else await pipeline(Readable.fromWeb(reply.body as ReadableStream), response);
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return origin;
}

/** What an app keeps of a sign-in. */
class KeptSignIn implements OAuthClientProvider {
  asked: URL | undefined;
  saved: OAuthTokens | undefined;
  #client: OAuthClientInformationMixed | undefined;
  #verifier = "";
  #discovered: OAuthDiscoveryState | undefined;
  readonly redirectUrl = "http://127.0.0.1/callback";
  readonly clientMetadata = { client_name: "test", redirect_uris: [this.redirectUrl] };
  clientInformation = () => this.#client;
  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.#client = client;
  }
  tokens = () => this.saved;
  saveTokens(tokens: OAuthTokens): void {
    this.saved = tokens;
  }
  redirectToAuthorization(url: URL): void {
    this.asked = url;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  codeVerifier = () => this.#verifier;
  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state;
  }
  discoveryState = () => this.#discovered;
  invalidateCredentials(): void {
    this.saved = undefined;
  }
}

/** An MCP server that lets those in who signed in at the provider beside it. */
async function guarded(isRevoked = () => false): Promise<string> {
  const served = serveShed(shed);
  onTestFinished(() => served.close());
  const open = served.http({ token: new Secret("token-1") });
  return listen(async (request, origin) => {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/.well-known/oauth-protected-resource"))
      return Response.json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
    if (pathname.startsWith("/.well-known/oauth-authorization-server"))
      return Response.json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
      });
    if (pathname === "/register")
      return Response.json({ ...((await request.json()) as object), client_id: "client-1" }, { status: 201 });
    if (pathname === "/token") {
      const form = new URLSearchParams(await request.text());
      if (form.get("code") !== "code-1" || !form.get("code_verifier"))
        return Response.json({ error: "invalid_grant" }, { status: 400 });
      return Response.json({ access_token: "token-1", token_type: "Bearer" });
    }
    if (pathname === "/mcp" && isRevoked()) return new Response(null, { status: 401 });
    if (pathname === "/mcp") return open(request);
    return new Response(null, { status: 404 });
  });
}

test("a server that wants a sign-in: its user is asked, and its tools come when that is done", async () => {
  const url = `${await guarded()}/mcp`;
  const signIn = new KeptSignIn();
  const { manager, servers } = await connect({ far: { url } }, { auth: { far: signIn } });
  expect(servers.status()[0]).toMatchObject({ state: "unauthorized", tools: [] });
  expect(signIn.asked?.pathname).toBe("/authorize");
  expect(signIn.asked?.searchParams.get("code_challenge_method")).toBe("S256");

  await expect(servers.finishAuth("far", new URLSearchParams({ code: "wrong" }))).rejects.toMatchObject({
    code: "tool",
    message: expect.stringContaining('The MCP server "far"'),
  });
  await servers.finishAuth("far", new URLSearchParams({ code: "code-1" }));
  expect(servers.status()[0]).toMatchObject({ state: "ready" });
  expect(textOf(await call(manager, "far__echo"))).toBe("here");

  const later = await connect({ far: { url } }, { auth: { far: signIn } });
  expect(later.servers.status()[0]?.state).toBe("ready");
  await expect(later.servers.finishAuth("far", new URLSearchParams())).rejects.toThrow("has not asked for a sign-in");
});

test("a server that ends a sign-in: its user is asked again, once, and the session goes on after", async () => {
  let revoked = false;
  const url = `${await guarded(() => revoked)}/mcp`;
  const signIn = new KeptSignIn();
  const { manager, servers } = await connect({ far: { url } }, { auth: { far: signIn } });
  await servers.finishAuth("far", new URLSearchParams({ code: "code-1" }));
  revoked = true;
  signIn.asked = undefined;
  expect((await call(manager, "far__echo")).errorDetail).toBe("unauthorized");
  expect(signIn.asked).toBeInstanceOf(URL);
  expect(servers.status()[0]?.state).toBe("unauthorized");
  signIn.asked = undefined;
  const again = await call(manager, "far__echo");
  expect(again.errorDetail).toBe("unauthorized");
  expect(textOf(again)).toContain("its user has to sign in");
  expect(signIn.asked).toBeUndefined();
  revoked = false;
  await servers.finishAuth("far", new URLSearchParams({ code: "code-1" }));
  expect(textOf(await call(manager, "far__echo"))).toBe("here");
});

test.each([
  "http://169.254.169.254/latest/meta-data",
  "https://169.254.169.254/latest/meta-data",
  "http://127.0.0.1:8080/admin",
  "https://[::1]/x",
  "http://elsewhere.example/x",
  "https://vault.internal/x",
  "https://intranet/x",
])("a sign-in leads to no network inside: %s", async (inside) => {
  const asked: string[] = [];
  const fetch = async (input: string | URL | Request) => {
    const url = new URL(input instanceof Request ? input.url : input);
    asked.push(url.href);
    const isPublic = url.hostname === "mcp.example";
    const resource = { resource: "https://mcp.example/mcp", authorization_servers: [inside] };
    if (url.pathname.startsWith("/named") && isPublic) return Response.json(resource);
    const metadata = asked.length % 2 === 0 ? inside : "https://mcp.example/named";
    const challenge = { "www-authenticate": `Bearer resource_metadata="${metadata}"` };
    return new Response(null, { status: url.pathname === "/mcp" ? 401 : 404, headers: challenge });
  };
  const far = { url: "https://mcp.example/mcp" };
  const options = { auth: { far: new KeptSignIn() }, fetch, sleep: async () => {} };
  const { servers, manager } = await connect({ far }, options);
  await call(manager, "far__echo");
  expect(servers.status()[0]?.state).not.toBe("ready");
  expect(asked.length).toBeGreaterThan(1);
  expect(asked.filter((url) => new URL(url).hostname !== "mcp.example")).toEqual([]);
});

test("a server lists its tools over as many pages as it likes", async () => {
  const origin = await listen(async (request) => {
    const { id, method, params } = (await request.json().catch(() => ({}))) as {
      id?: number;
      method?: string;
      params?: { cursor?: string };
    };
    if (id === undefined) return new Response(null, { status: method === undefined ? 405 : 202 });
    const page = Number(params?.cursor ?? 0);
    const tools = [0, 1, 2].map((i) => ({ name: `t${3 * page + i}`, inputSchema: nothing }));
    const results: { [method: string]: object } = {
      initialize: {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "pages", version: "1" },
      },
      "tools/list": { tools, ...(page < 99 && { nextCursor: String(page + 1) }) },
    };
    const result = results[method ?? ""];
    return Response.json({ jsonrpc: "2.0", id, ...(result ? { result } : { error: { code: -32601, message: "no" } }) });
  });
  const { manager } = await connect({ far: { url: `${origin}/mcp` } });
  expect(manager.names()).toHaveLength(300);
});

test("auth that belongs to no server is told", async () => {
  const wrong = connect({ far: { url: "http://127.0.0.1:1/" } }, { auth: { near: new KeptSignIn() } });
  await expect(wrong).rejects.toThrow("auth.near belongs to no server with a url");
});

test("a server of the newest protocol: its tools are called, and changes of its list are followed", async () => {
  let grown = false;
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "modern", version: "1" }, { capabilities: { tools: { listChanged: true } } });
    server.registerTool("one", { description: "First." }, async () => ({ content: [{ type: "text", text: "1" }] }));
    if (grown)
      server.registerTool("two", { description: "Second." }, async () => ({ content: [{ type: "text", text: "2" }] }));
    return server;
  });
  const url = await listen((request) => handler.fetch(request));
  const { manager } = await connect({ far: { url } });
  expect(textOf(await call(manager, "far__one"))).toBe("1");
  grown = true;
  handler.notify.toolsChanged();
  await until(() => manager.names().includes("far__two"));
  expect(textOf(await call(manager, "far__two"))).toBe("2");
});

test("answers that are no messages, and errors of the server, are told and end no more than the call", async () => {
  let broken = false;
  const served = serveShed(shed);
  onTestFinished(() => served.close());
  const open = served.http();
  const origin = await listen(async (request) => {
    if (broken && request.method === "POST")
      return new Response("<html>oops</html>", { status: 200, headers: { "content-type": "text/html" } });
    return open(request);
  });
  const { manager } = await connect({ far: { url: `${origin}/mcp` } });
  broken = true;
  const outcome = await call(manager, "far__echo");
  expect(outcome.errorDetail).toBe("execution");
  expect(textOf(outcome)).toContain('The MCP server "far" could not be called');
  broken = false;
  expect(textOf(await call(manager, "far__echo"))).toBe("here");
});

test("an answer without end breaks off, as JSON and as a stream of events", async () => {
  let kind = "";
  let sent = 0;
  const served = serveShed(shed);
  onTestFinished(() => served.close());
  const open = served.http();
  const origin = await listen(async (request) => {
    if (kind === "" || request.method !== "POST") return open(request);
    const piece = new TextEncoder().encode(
      kind === "text/event-stream" ? `data: ${"x".repeat(1e6)}\n` : "x".repeat(1e6),
    );
    const endless = new globalThis.ReadableStream({
      pull(controller) {
        sent += piece.length;
        if (sent > 80e6) controller.close();
        else controller.enqueue(piece);
      },
    });
    return new Response(endless, { headers: { "content-type": kind } });
  });
  const { manager } = await connect({ far: { url: `${origin}/mcp` } });
  for (kind of ["application/json", "text/event-stream"]) {
    sent = 0;
    const outcome = await call(manager, "far__echo");
    expect(outcome.errorDetail).toMatch(/network|execution/);
    expect(sent).toBeLessThan(60e6);
  }
  kind = "";
  expect(textOf(await call(manager, "far__echo"))).toBe("here");
});

test("an answer whose stream ends without it is lost, and said to be", async () => {
  let cut = false;
  const served = serveShed(shed);
  onTestFinished(() => served.close());
  const open = served.http();
  const origin = await listen(async (request) => {
    if (!cut || request.method !== "POST") return open(request);
    return new Response(": nothing\n\n", { headers: { "content-type": "text/event-stream" } });
  });
  const { manager } = await connect({ far: { url: `${origin}/mcp` } });
  cut = true;
  const outcome = await call(manager, "far__echo");
  expect(outcome.errorDetail).toBe("network");
  expect(textOf(outcome)).toContain('The connection to the MCP server "far" was lost while the call ran.');
});

test("a redirection to another place is not followed with our headers", async () => {
  const seen: string[] = [];
  const thief = await listen(async (request) => {
    seen.push(request.headers.get("x-key") ?? "");
    return new Response(null, { status: 404 });
  });
  const url = await listen(async () => Response.redirect(`${thief}/mcp`, 307));
  const { servers } = await connect({ far: { url, headers: { "X-Key": "sk-secret-1" } } });
  expect(servers.status()[0]?.state).toBe("failed");
  expect(seen).toEqual([]);
});

test("a server over HTTP that never answers is given up", async () => {
  const url = await listen(() => new Promise(() => {}));
  const { servers } = await connect({ far: { url } }, { connectTimeoutMs: 200 });
  expect(servers.status()[0]).toMatchObject({
    state: "failed",
    reason: expect.stringContaining("did not answer in time"),
  });
});
