import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { AgenticError } from "@shedkit/types";
import { describe, expect, it } from "vitest";
import {
  cancelledFailure,
  type FailureFacts,
  isOverflowText,
  responseFailure,
  retryAfterMs,
  Secret,
  thrownFailure,
} from "../src/index.js";

const context = { provider: "acme", model: "m" };

function kind(facts: Partial<FailureFacts>): string {
  const error = responseFailure({ message: "no", ...facts }, context);
  const name = AgenticError.is(error, "generation") ? error.details.kind : error.code;
  return error.retryable ? `${name}, retryable` : name;
}

describe("responseFailure", () => {
  it.each([
    [401, "auth"],
    [403, "auth"],
    [404, "badRequest"],
    [408, "timeout, retryable"],
    [409, "badRequest, retryable"],
    [413, "contextOverflow"],
    [422, "badRequest"],
    [429, "rateLimit, retryable"],
    [500, "server, retryable"],
    [502, "server, retryable"],
    [503, "overloaded, retryable"],
    [504, "timeout, retryable"],
    [529, "overloaded, retryable"],
  ])("HTTP %i is %s", (status, wanted) => {
    expect(kind({ status })).toBe(wanted);
  });

  it.each([
    ["overloaded_error", "overloaded, retryable"],
    ["rate_limit_error", "rateLimit, retryable"],
    ["api_error", "server, retryable"],
    ["server_error", "server, retryable"],
    ["authentication_error", "auth"],
    ["invalid_request_error", "badRequest"],
    ["insufficient_quota", "rateLimit"],
    ["content_filter", "refusal"],
    ["context_length_exceeded", "contextOverflow"],
    ["something_new", "other"],
  ])("an error event %s is %s", (code, wanted) => {
    expect(kind({ code })).toBe(wanted);
  });

  it("says who refused, with which status, what it said, and leaves the key out", () => {
    const secret = new Secret("sk-123");
    const error = responseFailure(
      { status: 401, code: "invalid_api_key", message: "bad key sk-123" },
      { ...context, secret },
    );
    expect(error.message).toBe("acme refused the request (401 invalid_api_key): bad key [secret]. Check the key.");
    expect(error.status).toBe(401);
  });

  it("says what a person can do, where one can", () => {
    const said = (status: number) => responseFailure({ status, message: "No such thing." }, context).message;
    expect(said(404)).toBe(
      "acme refused the request (404): No such thing. Check the name of the model, and the base URL.",
    );
    expect(said(402)).toContain("credit");
    expect(said(500)).toBe("acme refused the request (500): No such thing.");
  });

  it("keeps what gateways say short", () => {
    const said = (message: string) => responseFailure({ status: 502, message }, context).message;
    expect(said(`<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head>${"<p>".repeat(9)}`)).toBe(
      'acme refused the request (502): a page of HTML, "502 Bad Gateway"',
    );
    expect(said("x".repeat(100_000)).length).toBeLessThan(2100);
  });

  it("takes a request that is too large for too much context, also where a rate says so", () => {
    const message = "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 8000";
    expect(kind({ status: 413, code: "rate_limit_exceeded", message })).toBe("contextOverflow");
    expect(kind({ status: 413, code: "request_too_large", message: "Request exceeds the maximum size" })).toBe(
      "contextOverflow",
    );
  });

  it("keeps how long the provider asked to wait", () => {
    expect(responseFailure({ status: 429, message: "slow", retryAfterMs: 1500 }, context).retryAfterMs).toBe(1500);
  });

  it("takes 400 and 413 without a word for overflow", () => {
    expect([kind({ status: 400, message: "" }), kind({ status: 413, message: " " })]).toEqual([
      "contextOverflow",
      "contextOverflow",
    ]);
    expect(kind({ status: 429, message: "" })).toBe("rateLimit, retryable");
  });
});

describe("isOverflowText", () => {
  it.each([
    "prompt is too long: 210000 tokens > 200000 maximum",
    "Input is too long for requested model.",
    "Your input exceeds the context window of this model.",
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
    "Please reduce the length of the messages or completion.",
    "prompt token count of 70000 exceeds the limit of 64000",
    "the request exceeds the available context size, try increasing it",
    "The number of tokens to keep from the initial prompt is greater than the context length.",
    "invalid params, context window exceeds limit (2013)",
    "Your request exceeded model token limit: 131072",
    "Please reduce the length of your prompt.",
    "context_length_exceeded",
    "Context length exceeded",
    "Too many tokens in the request",
    "Token limit exceeded: 9000 > 8192",
    "This endpoint's maximum context length is 131,072 tokens. However, you requested about 150000 tokens",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "prompt too long; exceeded max context length by 12 tokens",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9000",
    "The input (9000 tokens) is longer than the model's context length: it exceeds the model's maximum context length",
    "model_context_window_exceeded",
  ])("knows %j", (text) => {
    expect(isOverflowText(text)).toBe(true);
  });

  it.each([
    "Rate limit reached: too many tokens per minute (TPM)",
    "Request too large: exceeds the limit of 30000 tokens per minute",
    "temperature exceeds the limit",
    "max_tokens is too large",
    "Too many tokens per day for this organization",
    "You exceeded your current quota, please check your plan",
    "Unknown parameter",
  ])("does not take %j for it", (text) => {
    expect(isOverflowText(text)).toBe(false);
  });
});

describe("retryAfterMs", () => {
  const at = (headers: HeadersInit, now = 0) => retryAfterMs(new Headers(headers), () => now);

  it("reads milliseconds, seconds and dates", () => {
    expect(at({ "retry-after-ms": "250", "retry-after": "9" })).toBe(250);
    expect(at({ "retry-after": "1.5" })).toBe(1500);
    expect(at({ "retry-after": "0" })).toBe(0);
    expect(at({ "retry-after": " 7 " })).toBe(7000);
    expect(at({ "retry-after-ms": "soon", "retry-after": "2" })).toBe(2000);
    const date = "Wed, 21 Oct 2026 07:28:00 GMT";
    expect(at({ "retry-after": date }, Date.parse(date) - 4000)).toBe(4000);
    expect(at({ "retry-after": date }, Date.parse(date) + 4000)).toBe(0);
  });

  it("ignores what is neither", () => {
    expect([at({}), at({ "retry-after": "" }), at({ "retry-after": "soon" }), at({ "retry-after": "-1" })]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("thrownFailure", () => {
  it("is `cancelled` after an abort, whatever was thrown", () => {
    const signal = AbortSignal.abort("enough");
    const error = thrownFailure(new Error("socket hang up"), { ...context, signal });
    expect(error).toEqual(cancelledFailure(signal));
    expect(AgenticError.is(error, "cancelled") && error.details.reason).toBe("enough");
  });

  it("knows a refused connection, one that breaks, and a time limit, by what fetch really throws", async () => {
    const kinds: string[] = [];
    const attempt = async (url: string, init: RequestInit = {}): Promise<void> => {
      const error = await fetch(url, init)
        .then(
          (response) => response.text(),
          (reason: unknown) => reason,
        )
        .catch((reason: unknown) => reason);
      const failure = thrownFailure(error, context);
      expect(failure.retryable).toBe(true);
      kinds.push(AgenticError.is(failure, "generation") ? failure.details.kind : failure.message);
    };
    const { url, close } = await serve((request, response) => {
      if (request.url === "/before") request.socket.destroy();
      if (request.url === "/during") {
        response.writeHead(200, { "content-length": "100" });
        response.write("half", () => request.socket.destroy());
      }
    });
    await attempt(`${url}/before`);
    await attempt(`${url}/during`);
    await attempt(`${url}/never`, { signal: AbortSignal.timeout(20) });
    await close();
    await attempt(`${url}/gone`);
    expect(kinds).toEqual(["network", "network", "timeout", "network"]);
  });

  it("hands on an AgenticError, and takes anything else for unexpected", () => {
    const known = new AgenticError("cancelled", "x", {});
    expect(thrownFailure(known, context)).toBe(known);
    const odd = thrownFailure(new TypeError("x is not a function"), context);
    expect([odd.code, odd.retryable]).toEqual(["unexpected", false]);
  });
});

async function serve(listener: RequestListener): Promise<{ url: string; close(): Promise<void> }> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
