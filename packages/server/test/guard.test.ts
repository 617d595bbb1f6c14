import { request } from "node:http";
import { ScriptedProvider } from "@shedkit/testing";
import { describe, expect, it } from "vitest";
import { createServer, newToken } from "../src/index.js";
import { listen } from "../src/node.js";
import { type Served, serve, TOKEN } from "./helpers.js";

const page = { html: "<title>page</title>", script: "1", style: "a{}" };
const idle = (options = {}) => serve(new ScriptedProvider([]), options);

async function errorOf(response: Response): Promise<[number, string]> {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  expect(error.message).not.toBe("");
  return [response.status, error.code];
}

/** A request with any Host, which fetch does not let one set. */
function raw(server: Served, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { port: server.port, path, headers: { authorization: `Bearer ${TOKEN}`, ...headers } };
    request(options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on("error", reject)
      .end();
  });
}

describe("who is answered", () => {
  it("brings the token, or gets nothing", async () => {
    const server = await idle();
    for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: `Basic ${TOKEN}` }]) {
      for (const path of ["/api/sessions", "/api/models", "/v1/models"]) {
        const response = await fetch(server.url + path, { headers: headers as Record<string, string> });
        expect(response.status).toBe(401);
        expect(response.headers.get("www-authenticate")).toBe("Bearer");
      }
    }
    const query = await fetch(`${server.url}/api/sessions?token=${TOKEN}`);
    expect(query.status).toBe(401);
  });

  it("is let in by a cookie that the token was exchanged for, which the page cannot read", async () => {
    const server = await idle({ page });
    expect((await fetch(`${server.url}/?token=wrong`, { redirect: "manual" })).status).toBe(401);
    const answer = await fetch(`${server.url}/?token=${TOKEN}`, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/"]);
    const cookie = answer.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(new RegExp(`^shedkit_${server.port}=[^;]+; Path=/; HttpOnly; SameSite=Strict$`));
    expect(cookie).not.toContain(TOKEN);
    const get = (headers: Record<string, string>) => fetch(`${server.url}/api/sessions`, { headers });
    const value = cookie.split(";")[0] ?? "";
    expect((await get({ cookie: `a=b; ${value}` })).status).toBe(200);
    expect((await get({ cookie: `${value}x` })).status).toBe(401);
    // what another site makes a browser ask for
    expect((await get({ cookie: value, "sec-fetch-site": "cross-site" })).status).toBe(401);
    expect((await get({ cookie: value, "sec-fetch-site": "same-site" })).status).toBe(401);
    expect((await get({ cookie: value, "sec-fetch-site": "same-origin" })).status).toBe(200);
  });

  it("may also bring the token in a form", async () => {
    const server = await idle({ page });
    const login = (body: unknown) =>
      fetch(`${server.url}/api/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    expect(await errorOf(await login({ token: "wrong" }))).toEqual([401, "unauthorized"]);
    expect(await errorOf(await login({ token: "x".repeat(5000) }))).toEqual([413, "tooLarge"]);
    const cookie = (await login({ token: TOKEN })).headers.get("set-cookie")?.split(";")[0] ?? "";
    expect((await fetch(`${server.url}/api/models`, { headers: { cookie } })).status).toBe(200);
  });

  it("calls the server by a name of its own: a name made to point here is refused", async () => {
    const server = await idle({ hosts: ["box.lan"] });
    const port = `:${server.port}`;
    for (const host of ["evil.example", `evil.example${port}`, "127.0.0.1.evil.example", "localhost.evil.example"]) {
      expect(await raw(server, "/api/models", { host })).toBe(403);
    }
    for (const host of [`localhost${port}`, `127.0.0.1${port}`, `[::1]${port}`, `BOX.lan${port}`, "box.lan"]) {
      expect(await raw(server, "/api/models", { host })).toBe(200);
    }
  });

  it("is no page of another origin", async () => {
    const server = await idle();
    const origins = ["https://evil.example", "null", `http://localhost:${server.port + 1}`];
    for (const origin of origins) {
      expect(await errorOf(await server.call("POST", "/api/sessions", {}, { origin }))).toEqual([403, "originRefused"]);
    }
    expect((await server.call("POST", "/api/sessions", {}, { origin: server.url })).status).toBe(201);
  });

  it("gets a page that may load nothing from elsewhere", async () => {
    const server = await idle({ page });
    for (const path of ["/", "/page.js", "/page.css", "/nothing"]) {
      const { headers } = await fetch(server.url + path);
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(headers.get("content-security-policy")).not.toMatch(/unsafe|https?:|\*/);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  });
});

describe("what is wrong with a request", () => {
  it("is said: no JSON, no object, another type, too large, a wrong method, nothing there", async () => {
    const server = await idle({ limits: { bodyBytes: 1000 } });
    const id = await server.session();
    const ask = `/api/sessions/${id}/ask`;
    const of = async (...args: Parameters<Served["call"]>) => errorOf(await server.call(...args));
    expect(await of("POST", ask, "{")).toEqual([400, "badRequest"]);
    expect(await of("POST", ask, "[1]")).toEqual([400, "badRequest"]);
    expect(await of("POST", ask, { text: "Hi" }, { "content-type": "text/plain" })).toEqual([
      ...[415, "unsupportedMediaType"],
    ]);
    expect(await of("POST", ask, { text: "x".repeat(2000) })).toEqual([413, "tooLarge"]);
    for (const body of [{}, { text: " " }, { text: 1 }, { text: "a", maxSteps: 0 }, { text: "a", files: [{}] }]) {
      expect(await of("POST", ask, body)).toEqual([400, "badRequest"]);
    }
    expect(await of("PUT", ask, {})).toEqual([405, "methodNotAllowed"]);
    expect((await server.call("GET", ask)).headers.get("allow")).toBe("POST");
    expect(await of("GET", "/api/nothing")).toEqual([404, "notFound"]);
    expect(await of("PATCH", `/api/sessions/${id}`, {})).toEqual([400, "badRequest"]);
    expect(await of("PATCH", `/api/sessions/${id}`, { title: "x".repeat(201) })).toEqual([400, "badRequest"]);
    expect(await of("POST", "/api/sessions", { model: "none" })).toEqual([400, "badRequest"]);
    expect(await of("GET", "/api/sessions?limit=-1")).toEqual([400, "badRequest"]);
    expect(await of("POST", `/api/sessions/${id}/approvals/x`, { decision: "maybe" })).toEqual([400, "badRequest"]);
    expect(await of("POST", `/api/sessions/${id}/approvals/x`, { decision: "once" })).toEqual([409, "notWaiting"]);
    expect(await of("GET", `/api/sessions/${id}/export?format=pdf`)).toEqual([400, "badRequest"]);
  });

  it("is said of a body too large that does not tell its size", async () => {
    const server = await idle({ limits: { bodyBytes: 1000 } });
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new TextEncoder().encode("x".repeat(600))),
    });
    const response = await fetch(`${server.url}/api/sessions`, {
      ...{ method: "POST", body, duplex: "half" },
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    } as RequestInit);
    expect(response.status).toBe(413);
  });

  it("is said of a session that is not there, whatever is asked of it", async () => {
    const server = await idle();
    const paths: [string, string][] = [
      ...([
        ["GET", ""],
        ["DELETE", ""],
        ["GET", "/events"],
        ["GET", "/records"],
        ["GET", "/usage"],
      ] as [string, string][]),
      ...(["/fork", "/ask", "/steer", "/follow-up", "/abort", "/compact"].map((path) => ["POST", path]) as [
        string,
        string,
      ][]),
      ...([
        ["GET", "/export"],
        ["GET", "/tools"],
      ] as [string, string][]),
    ];
    for (const [method, path] of paths) {
      const body = method === "POST" ? { text: "Hi" } : undefined;
      expect(await errorOf(await server.call(method, `/api/sessions/nobody${path}`, body))).toEqual([
        ...[404, "sessionNotFound"],
      ]);
    }
    expect((await server.call("PATCH", "/api/sessions/nobody", { title: "a" })).status).toBe(404);
  });

  it("tells nothing of what broke inside", async () => {
    const server = await idle({
      open: async () => {
        throw new Error("secret path /etc/x");
      },
    });
    const id = await server.session();
    const response = await server.call("POST", `/api/sessions/${id}/ask`, { text: "Hi" });
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("secret");
  });
});

describe("a server", () => {
  it("is not made without models or with a short token", () => {
    const options = { open: async () => Promise.reject(new Error()), docStore: {} as never };
    expect(() => createServer({ ...options, token: newToken(), models: [] })).toThrow(/models is empty/);
    expect(() => createServer({ ...options, token: "short", models: [{ id: "m" }] })).toThrow(/token is shorter/);
  });

  it("says why it cannot listen", async () => {
    const server = await idle();
    await expect(
      listen({ fetch: async () => new Response(), close: async () => {} }, { port: server.port }),
    ).rejects.toThrow(/another program has it/);
  });
});
