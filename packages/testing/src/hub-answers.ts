import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { HubFileEntry } from "./hub-repository.js";

/** What can go wrong with an answer of a fake hub. */
export type HubFault =
  | { type: "status"; status: number; headers?: OutgoingHttpHeaders | undefined; body?: string | undefined }
  /** A page of a login or a proxy, with status 200. */
  | { type: "html" }
  /** The connection breaks after so many bytes of the file (default 0). */
  | { type: "cut"; afterBytes?: number | undefined }
  /** So many bytes come (default 0), then nothing, and the connection stays open. */
  | { type: "stall"; afterBytes?: number | undefined }
  /** One byte of the answer is another one. */
  | { type: "corrupt" }
  /** The whole file with status 200, whatever range was asked for. */
  | { type: "ignoreRange" }
  /** Not faster than this. */
  | { type: "slow"; bytesPerSecond: number };

/** Sends JSON. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: OutgoingHttpHeaders = {},
): ServerResponse {
  const all = { "Content-Type": "application/json; charset=utf-8", ...headers };
  return response.writeHead(status, all).end(JSON.stringify(body));
}

/** Sends the page of somebody else in place of what was asked for. */
export function sendPage(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { "Content-Type": "text/html" }).end("<!DOCTYPE html><title>Please log in</title>");
}

/** Sends a file or a range of it, with or without a fault. */
export function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: HubFileEntry,
  fault: HubFault | undefined,
  sent: (bytes: number) => void,
): ServerResponse {
  if (fault?.type === "status") return response.writeHead(fault.status, fault.headers ?? {}).end(fault.body ?? "");
  if (fault?.type === "html") return sendPage(response);
  const range = fault?.type === "ignoreRange" ? undefined : rangeOf(request.headers.range, file.bytes);
  if (range === "unsatisfiable") return response.writeHead(416, { "Content-Range": `bytes */${file.bytes}` }).end();
  const [first, last] = range ?? [0, file.bytes - 1];
  const body = Buffer.from(file.content.subarray(first, last + 1));
  if (fault?.type === "corrupt" && body.length > 0) body[body.length >> 1] = (body[body.length >> 1] ?? 0) ^ 0xff;
  response.writeHead(range ? 206 : 200, {
    "Content-Type": "application/octet-stream",
    "Content-Length": body.length,
    ETag: `"${file.etag}"`,
    "Accept-Ranges": "bytes",
    ...(range ? { "Content-Range": `bytes ${first}-${last}/${file.bytes}` } : {}),
  });
  if (request.method === "HEAD") return response.end();
  if (fault?.type === "slow") sendSlowly(response, body, fault.bytesPerSecond, sent);
  else if (fault?.type === "cut")
    sendSome(response, body.subarray(0, fault.afterBytes ?? 0), sent, () => response.destroy());
  else if (fault?.type === "stall") sendSome(response, body.subarray(0, fault.afterBytes ?? 0), sent, () => undefined);
  else sendSome(response, body, sent, () => response.end());
  return response;
}

function sendSome(response: ServerResponse, bytes: Buffer, sent: (bytes: number) => void, then: () => void): void {
  response.flushHeaders();
  response.write(bytes, (error) => {
    if (error) return;
    sent(bytes.length);
    then();
  });
}

const TICK_MS = 20;

function sendSlowly(
  response: ServerResponse,
  body: Buffer,
  bytesPerSecond: number,
  sent: (bytes: number) => void,
): void {
  const piece = Math.max(1, Math.round((bytesPerSecond * TICK_MS) / 1000));
  let at = 0;
  const timer = setInterval(() => {
    const chunk = body.subarray(at, at + piece);
    at += chunk.length;
    if (chunk.length > 0 && !response.destroyed) return sendSome(response, chunk, sent, () => undefined);
    clearInterval(timer);
    response.end();
  }, TICK_MS);
}

function rangeOf(header: string | undefined, bytes: number): [number, number] | "unsatisfiable" | undefined {
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(header ?? "") ?? [];
  if (first === undefined) return undefined;
  const start = Number(first);
  if (start >= bytes) return "unsatisfiable";
  return [start, last ? Math.min(Number(last), bytes - 1) : bytes - 1];
}
