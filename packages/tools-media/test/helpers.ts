import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Received {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: Buffer;
}

type Answer = (response: ServerResponse, request: Received) => unknown;

/** A service on this machine, gone after the test, and what it was asked. */
export async function service(answer: Answer): Promise<{ url: string; asked: Received[] }> {
  const asked: Received[] = [];
  const http = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { method = "", url = "", headers } = request;
    const received = { method, url, headers, body: Buffer.concat(pieces) };
    asked.push(received);
    await answer(response, received);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  );
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`, asked };
}

export function json(response: ServerResponse, body: unknown, status = 200, headers: { [name: string]: string } = {}) {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** An image of one pixel. */
export const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
export const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xd9]);

function box(name: string, content: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(content.length + 8);
  return Buffer.concat([size, Buffer.from(name), content]);
}

/** The outside of an MP4 of so many bytes of content. */
export function mp4(bytes: number): Buffer {
  return Buffer.concat([box("ftyp", Buffer.from("isom\0\0\0\0isom")), box("mdat", Buffer.alloc(bytes, 7))]);
}
