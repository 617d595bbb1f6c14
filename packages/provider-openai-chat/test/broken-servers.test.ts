import { type AddressInfo, createServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import type { ModelEvent } from "@shedkit/provider";
import { Secret } from "@shedkit/provider";
import { describe, expect, it } from "vitest";
import { OpenAIProvider } from "../src/index.js";
import { exchange, question } from "./open.js";

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const stream = `${chunk({ content: "Hi" })}${chunk({}, "stop")}data: [DONE]\n\n`;
const head = (more = "") => `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n${more}\r\n`;
const zipped = gzipSync(stream);
const zipHead = head(`content-encoding: gzip\r\ncontent-length: ${zipped.length}\r\n`);
const chunked = head("transfer-encoding: chunked\r\n");

/** Asks once, of a server that does this with the connection. */
async function ask(act: (socket: Socket) => void, idleTimeoutMs?: number): Promise<ModelEvent[]> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}); // the client may leave
    socket.once("data", () => act(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const provider = OpenAIProvider.withConfig({
    apiKey: new Secret("key-of-the-test"),
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    maxRetries: 0,
    idleTimeoutMs,
  });
  const events: ModelEvent[] = [];
  for await (const event of provider.stream(question())) events.push(event);
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
  return events;
}

function endOf(events: readonly ModelEvent[]): string {
  const last = events.at(-1);
  if (last?.type !== "failure") return String(last?.type);
  return last.error.code === "generation" ? (last.error.details as { kind: string }).kind : last.error.code;
}

describe("a server that", () => {
  it.each<[string, string, (socket: Socket) => void]>([
    ["resets at once", "network", (socket) => socket.resetAndDestroy()],
    ["closes at once", "network", (socket) => socket.end()],
    ["sends half a status line", "network", (socket) => socket.end("HTTP/1.1 2")],
    [
      "resets among the headers",
      "network",
      (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-ty", () => socket.resetAndDestroy()),
    ],
    ["speaks no HTTP", "network", (socket) => socket.end("\u0016\u0003\u0001 what\r\n\r\n")],
    ["sends headers without end", "network", (socket) => socket.end(`${head(`x: ${"y".repeat(100_000)}\r\n`)}`)],
    ["sends no body", "network", (socket) => socket.end(head("content-length: 0\r\n"))],
    ["has no content", "network", (socket) => socket.end("HTTP/1.1 204 No Content\r\n\r\n")],
    [
      "leads in circles",
      "network",
      (socket) => socket.end("HTTP/1.1 302 Found\r\nlocation: /v1/chat/completions\r\ncontent-length: 0\r\n\r\n"),
    ],
    ["says a length that is too long", "finish", (socket) => socket.end(head("content-length: 99999\r\n") + stream)],
    ["says a length that is too short", "network", (socket) => socket.end(head("content-length: 20\r\n") + stream)],
    ["breaks off in a chunk", "network", (socket) => socket.end(`${chunked}10\r\ndata: {`)],
    ["sends a chunk without length", "network", (socket) => socket.end(`${chunked}zz\r\n${stream}`)],
    [
      "breaks off within compressed bytes",
      "network",
      (socket) => {
        socket.write(zipHead);
        socket.end(zipped.subarray(0, zipped.length / 2));
      },
    ],
    [
      "compresses its stream",
      "finish",
      (socket) => {
        socket.write(zipHead);
        socket.end(zipped);
      },
    ],
    [
      "says that it will answer",
      "finish",
      (socket) => socket.end(`HTTP/1.1 103 Early Hints\r\n\r\n${head()}${stream}`),
    ],
    ["begins with a byte order mark", "finish", (socket) => socket.end(`${head()}\ufeff${stream}`)],
    [
      "breaks off in an error",
      "server",
      (socket) =>
        socket.write('HTTP/1.1 500 No\r\ncontent-length: 500\r\n\r\n{"error":', () => socket.resetAndDestroy()),
    ],
    ["has a status of its own", "server", (socket) => socket.end("HTTP/1.1 999 No\r\ncontent-length: 2\r\n\r\nno")],
    ["says nothing behind its headers", "timeout", (socket) => void socket.write(head())],
    ["says nothing behind half an event", "timeout", (socket) => void socket.write(`${head()}data: {"choi`)],
    [
      "only keeps the connection",
      "timeout",
      (socket) => {
        socket.write(head());
        const timer = setInterval(() => socket.write(": here\n\n"), 10);
        socket.on("close", () => clearInterval(timer));
      },
    ],
    [
      "says nothing behind the beginning of JSON",
      "timeout",
      (socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"),
    ],
  ])("%s: %s", async (_, wanted, act) => {
    const events = await ask(act, wanted === "timeout" ? 100 : undefined);
    expect(endOf(events)).toBe(wanted);
    expect(events.filter(({ type }) => type === "finish" || type === "failure")).toHaveLength(1);
  });
});

describe("events of another shape", () => {
  const last = '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}';

  it.each([
    '{"choices":null}',
    '{"choices":[null]}',
    '{"choices":[{"delta":null}]}',
    '{"choices":[{"delta":{"content":5,"tool_calls":[null,{"function":null}],"reasoning_details":[null]}}]}',
    '{"error":null,"choices":[]}',
    "[]",
    "null",
  ])("%s are passed over", async (odd) => {
    const { events } = await exchange([{ events: [odd, '{"choices":[{"delta":{"content":"Hi"}}]}', last] }]);
    expect(events.filter(({ type }) => type === "textDelta")).toEqual([{ type: "textDelta", block: 0, text: "Hi" }]);
    expect(events.at(-1)).toEqual({ type: "finish", reason: "stop" });
  });

  it("that nothing can be made of are a failure which says so", async () => {
    const { events } = await exchange([{ events: ['{"choices":[{"delta":{"tool_calls":5,"images":5}}]}', last] }]);
    expect(events.at(-1)).toMatchObject({
      type: "failure",
      error: { code: "generation", details: { kind: "other" }, message: expect.stringContaining("not of this wire") },
    });
  });
});
