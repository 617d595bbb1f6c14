import { once } from "node:events";
import { callTool, ToolError, type ToolErrorKind } from "@shedkit/tool";
import { describe, expect, it } from "vitest";
import { imageGenTool, openAIImages } from "../src/index.js";
import { json, PNG, service } from "./helpers.js";

const made = { data: [{ b64_json: PNG.toString("base64") }] };

async function ask(url: string, options: object = {}, params: object = {}, signal?: AbortSignal) {
  const client = openAIImages({ baseUrl: url, apiKey: "sk-secret-1", maxRetries: 0, ...options });
  return callTool(imageGenTool(client, undefined, params), { prompt: "x" }, { signal });
}

async function faultOf(promise: Promise<unknown>): Promise<ToolError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ToolError);
  return error as ToolError;
}

describe("a service that fails", () => {
  it("refuses, in the words of any of its kind", async () => {
    let body: unknown;
    const { url } = await service((response) => json(response, body, 400));
    for (const form of [
      { error: { message: "The prompt was blocked", code: "content_policy_violation" } },
      { error: "The prompt was blocked" },
      { message: "The prompt was blocked" },
      { detail: "The prompt was blocked" },
      { detail: [{ loc: ["body"], msg: "The prompt was blocked" }] },
    ]) {
      body = form;
      const result = await ask(url);
      expect(result.errorDetail).toBe("refused: HTTP 400");
      expect(result.text).toMatch(
        /^Making it was refused\. 127\.0\.0\.1:\d+ answered with HTTP 400: The prompt was blocked\.$/,
      );
    }
  });

  it.each<[number, ToolErrorKind]>([
    [401, "unauthorized"],
    [403, "unauthorized"],
    [404, "notFound"],
    [408, "timeout"],
    [429, "rateLimited"],
    [500, "serviceUnavailable"],
    [502, "serviceUnavailable"],
    [503, "serviceUnavailable"],
    [504, "timeout"],
  ])("answers with HTTP %i", async (status, kind) => {
    const { url } = await service((response) =>
      response.writeHead(status, { "content-type": "text/html" }).end("<html><h1>Nginx</h1></html>"),
    );
    const fault = await faultOf(ask(url));
    expect(fault).toMatchObject({ kind, status });
    expect(fault.message).not.toContain("Nginx");
    expect(fault.message).toContain(`HTTP ${status}.`);
  });

  it("is asked once more after the wait that it asks for", async () => {
    const answers: [number, { [name: string]: string }][] = [
      [429, { "retry-after": "0" }],
      [503, { "retry-after-ms": "1" }],
      [200, {}],
    ];
    const { url, asked } = await service((response) => {
      const [status, headers] = answers[asked.length - 1] ?? [500, {}];
      json(response, status === 200 ? made : { error: { message: "slow down" } }, status, headers);
    });
    expect((await ask(url, { maxRetries: 2 })).errorDetail).toBeUndefined();
    expect(asked).toHaveLength(3);
  });

  it("is not asked again for something that it may have made, nor where the wait is long or the money spent", async () => {
    let [status, body, headers]: [number, object, { [name: string]: string }] = [500, {}, {}];
    const { url, asked } = await service((response) => json(response, body, status, headers));
    await faultOf(ask(url, { maxRetries: 5 }));
    expect(asked).toHaveLength(1);
    [status, headers] = [429, { "retry-after": "3600" }];
    const fault = await faultOf(ask(url, { maxRetries: 5 }));
    expect(fault).toMatchObject({ kind: "rateLimited", retryAfterMs: 3_600_000 });
    expect(fault.message).toContain("in 3600 s");
    expect(asked).toHaveLength(2);
    [body, headers] = [{ error: { message: "Quota is used up", code: "insufficient_quota" } }, { "retry-after": "0" }];
    await faultOf(ask(url, { maxRetries: 5 }));
    expect(asked).toHaveLength(3);
  });

  it("counts a date to wait for from its own clock", async () => {
    const { url } = await service((response) =>
      json(response, {}, 429, {
        date: "Tue, 01 Jan 2030 00:00:00 GMT",
        "retry-after": "Tue, 01 Jan 2030 00:01:30 GMT",
      }),
    );
    expect(await faultOf(ask(url))).toMatchObject({ retryAfterMs: 90_000 });
  });

  it("stops while it waits to be asked again", async () => {
    const controller = new AbortController();
    const { url, asked } = await service((response) => {
      json(response, {}, 429, { "retry-after": "50" });
      response.once("close", () => controller.abort());
    });
    expect(await faultOf(ask(url, { maxRetries: 3 }, {}, controller.signal))).toMatchObject({ kind: "cancelled" });
    expect(asked).toHaveLength(1);
  });

  it("never has its key told", async () => {
    const { url } = await service((response, { headers }) =>
      json(response, { error: { message: `Bad key: ${headers.authorization}` } }, 401),
    );
    const fault = await faultOf(ask(url));
    expect(fault.message).toContain("Bad key: Bearer [secret]");
    expect(JSON.stringify(fault)).not.toContain("sk-secret-1");
    const other = await service((response, { headers }) => json(response, { error: `Bad ${headers["x-key"]}` }, 401));
    expect((await faultOf(ask(other.url, { headers: { "x-key": "sk-other-3" } }))).message).toContain("Bad [secret]");
    const secret = { reveal: () => "sk-hidden-2" };
    expect((await faultOf(ask(url, { apiKey: secret }))).message).toContain("Bearer [secret]");
  });

  it("is not there", async () => {
    const { url } = await service((response) => response.destroy());
    expect(await faultOf(ask(url))).toMatchObject({ kind: "network" });
    expect(await faultOf(ask("http://127.0.0.1:1/v1"))).toMatchObject({ kind: "network" });
  });

  it("breaks off", async () => {
    const whole = Buffer.from(JSON.stringify(made));
    const { url } = await service((response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": String(whole.length) });
      response.write(whole.subarray(0, 20), () => response.destroy());
    });
    const fault = await faultOf(ask(url));
    expect(fault.kind).toBe("network");
    expect(fault.message).toContain("broke off");
  });

  it("closes the connection of an image in the middle, and says nothing", async () => {
    const { url } = await service((response, asked) => {
      if (asked.url.endsWith("/generations")) return json(response, { data: [{ url: "/a.png" }] });
      // No length, and the end of the connection is the end of the body.
      response.shouldKeepAlive = false;
      response.useChunkedEncodingByDefault = false;
      response.writeHead(200, { "content-type": "image/png", connection: "close" });
      response.end(PNG.subarray(0, 50));
    });
    const fault = await faultOf(ask(url));
    expect(fault.message).toContain("broke off after 50 bytes");
  });

  it.each<[string, string, string | Buffer]>([
    ["a page in place of JSON", "text/html", "<html>Sign in</html>"],
    ["JSON that is no object", "application/json", "[1]"],
    ["no image", "application/json", '{"data":[]}'],
    ["an error with HTTP 200", "application/json", '{"error":{"message":"Model is loading"}}'],
    [
      "an image that is none",
      "application/json",
      `{"data":[{"b64_json":"${Buffer.from("<html>").toString("base64")}"}]}`,
    ],
    ["an image that is no base64", "application/json", '{"data":[{"b64_json":"%%%"}]}'],
    ["an image without content", "application/json", '{"data":[{}]}'],
    ["null for an image", "application/json", '{"data":[null]}'],
    ["broken UTF-8", "application/json", Buffer.from([0x7b, 0xff, 0xfe])],
    ["nothing", "application/json", ""],
  ])("answers with %s", async (_, type, body) => {
    const { url } = await service((response) => response.writeHead(200, { "content-type": type }).end(body));
    const fault = await faultOf(ask(url));
    expect(fault.kind).toBe("execution");
    if (body.includes("loading")) expect(fault.message).toContain("Model is loading");
  });

  it("answers with more than is taken, declared or not", async () => {
    let declared = true;
    const sent: { bytes: number } = { bytes: 0 };
    const { url } = await service(async (response) => {
      const piece = Buffer.alloc(64 * 1024, "a");
      const closed = once(response, "close");
      response.writeHead(200, declared ? { "content-length": "9000000000" } : {});
      while (!response.destroyed) {
        sent.bytes += piece.length;
        if (!response.write(piece)) {
          await Promise.race([once(response, "drain"), closed]);
        }
      }
    });
    expect((await faultOf(ask(url, {}, { maxBytes: 1000 }))).message).toContain("too much");
    declared = false;
    expect((await faultOf(ask(url, {}, { maxBytes: 1000 }))).message).toContain("too much");
    expect(sent.bytes).toBeLessThan(50_000_000);
    const { url: other } = await service((response) => json(response, made));
    expect((await faultOf(ask(other, {}, { maxBytes: 10 }))).message).toContain("10 are the most");
  });

  it("sends in a circle, or a POST elsewhere", async () => {
    const { url } = await service((response, asked) => {
      if (asked.method === "POST") json(response, { data: [{ url: "/a" }] });
      else response.writeHead(302, { location: "/a" }).end();
    });
    expect((await faultOf(ask(url))).message).toContain("from one address to the next");
    const { url: other } = await service((response) => response.writeHead(307, { location: "/else" }).end());
    expect((await faultOf(ask(other))).message).toContain("not followed");
  });

  it("takes too long, or is stopped", async () => {
    const { url: silent } = await service(() => {});
    expect((await ask(silent, {}, { timeoutMs: 50 })).text).toBe("Making it took longer than 0.05 s.");
    const controller = new AbortController();
    const { url } = await service(() => controller.abort());
    expect(await faultOf(ask(url, {}, {}, controller.signal))).toMatchObject({ kind: "cancelled" });
  });

  it("has an address that is none", () => {
    for (const baseUrl of ["", "api.example.com", "file:///x"]) {
      expect(() => openAIImages({ baseUrl })).toThrow(/baseUrl must be a URL/);
    }
  });
});
