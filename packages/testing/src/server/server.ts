import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonValue } from "@shedkit/types";
import { Gate } from "../gate.js";
import { toStep } from "../scripted-answer.js";
import { anthropic } from "./anthropic.js";
import { openaiChat } from "./openai-chat.js";
import { openaiResponses } from "./openai-responses.js";
import { isReply, type ReceivedRequest, type ServerAnswer, type ServerReply } from "./reply.js";
import type { Wire, WireBody } from "./wire.js";

const WIRES: readonly Wire[] = [anthropic, openaiChat, openaiResponses];

/** How a scripted server sends. */
export interface ScriptedServerOptions {
  /** Length of a delta in UTF-16 units. Default: 8. */
  chunkSize?: number | undefined;
}

/** The answer to the request; `index` counts from 0. */
export type ServerScript = (request: ReceivedRequest, index: number) => ServerAnswer | Promise<ServerAnswer>;

/**
 * A model server on loopback that says what a test tells it to, over real HTTP: Anthropic Messages, OpenAI Chat and
 * OpenAI Responses, by the path of the request. It answers 400, with the wire's error body, to what the real API
 * refuses: orphan results, tools that are all deferred, references to tools that were not declared, and the like.
 *
 * ```ts
 * await using server = await ScriptedServer.start(["Hello.", { error: { code: "overloaded_error", message: "" }, status: 529 }]);
 * // give `${server.url}/v1` to a client as its base URL
 * ```
 */
export class ScriptedServer {
  /** Without a path: `http://127.0.0.1:<port>`. */
  readonly url: string;
  readonly requests: ReceivedRequest[] = [];
  readonly #server: Server;
  readonly #script: ServerScript;
  readonly #chunkSize: number;
  readonly #closing = new AbortController();

  private constructor(server: Server, script: ServerScript, options: ScriptedServerOptions) {
    this.#server = server;
    this.#script = script;
    this.#chunkSize = options.chunkSize ?? 8;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** The n-th request gets the n-th answer; one more gets 500, which says so. */
  static async start(
    answers: readonly ServerAnswer[] | ServerScript,
    options: ScriptedServerOptions = {},
  ): Promise<ScriptedServer> {
    const script: ServerScript =
      typeof answers === "function" ? answers : (_, index) => answers[index] ?? noAnswer(index);
    const server = createServer({ keepAlive: true });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", resolve);
    });
    const scripted = new ScriptedServer(server, script, options);
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      void scripted.#serve(request, response).catch(() => response.destroy());
    });
    return scripted;
  }

  /** Breaks every connection and frees the port. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readJson(incoming);
    const path = (incoming.url ?? "/").split("?", 1)[0] ?? "/";
    const wire = WIRES.find((candidate) => path.endsWith(candidate.path));
    const request: ReceivedRequest = {
      number: this.requests.length + 1,
      method: incoming.method ?? "GET",
      path,
      headers: incoming.headers,
      wire: wire?.name,
      body,
      over: new Promise((resolve) => {
        response.once("close", () => resolve(response.writableFinished ? "answered" : "left"));
      }),
    };
    const index = this.requests.push(request) - 1;
    const answer = await this.#script(request, index);
    const reply: ServerReply = isReply(answer) ? answer : { answer };
    const refusal = reply.unchecked || !("answer" in reply || "events" in reply) ? undefined : wire?.refuse(body);
    if (wire !== undefined && refusal !== undefined) {
      sendJson(response, 400, wire.error("invalid_request_error", refusal));
      return;
    }
    const left = new AbortController();
    response.once("close", () => left.abort());
    await new Exchange(response, reply, AbortSignal.any([left.signal, this.#closing.signal])).run(
      this.#frames(wire ?? openaiChat, reply, request),
      wire ?? openaiChat,
    );
  }

  *#frames(wire: Wire, reply: ServerReply, { body, number }: ReceivedRequest): Generator<string | Gate, void, void> {
    if (reply.wait !== undefined) yield reply.wait;
    if ("body" in reply) yield reply.body;
    else if ("json" in reply) yield JSON.stringify(reply.json);
    else if ("error" in reply) yield JSON.stringify(wire.error(reply.error.code, reply.error.message));
    else if ("events" in reply) {
      for (const line of reply.events) if (line.trim() !== "") yield wire.frame(line);
      yield wire.end;
    } else {
      yield* wire.speak({ step: toStep(reply.answer), body, request: number, chunkSize: this.#chunkSize });
    }
  }
}

/** One response on its way. */
class Exchange {
  readonly #response: ServerResponse;
  readonly #reply: ServerReply;
  readonly #signal: AbortSignal;
  #sent = 0;

  constructor(response: ServerResponse, reply: ServerReply, signal: AbortSignal) {
    this.#response = response;
    this.#reply = reply;
    this.#signal = signal;
  }

  async run(frames: Iterable<string | Gate>, wire: Wire): Promise<void> {
    const response = this.#response;
    if (this.#reply.cutAfter === -1) {
      response.destroy();
      return;
    }
    const streams = "answer" in this.#reply || "events" in this.#reply;
    const type = "body" in this.#reply || streams ? "text/event-stream" : "application/json";
    response.socket?.setNoDelay(true);
    const head = (): void => {
      if (!response.headersSent) {
        response.writeHead(this.#reply.status ?? 200, { "content-type": type, ...this.#reply.headers });
        response.flushHeaders();
      }
    };
    for (const frame of frames) {
      if (this.#signal.aborted) return;
      if (frame instanceof Gate) {
        if (frame !== this.#reply.wait) head();
        await this.#pinging(wire, () => frame.wait(this.#signal));
      } else {
        head();
        if (!(await this.#write(Buffer.from(frame), wire))) return;
      }
    }
    head();
    response.end();
  }

  /** False when the reply says to stop here. */
  async #write(bytes: Buffer, wire: Wire): Promise<boolean> {
    const { split, cutAfter, endAfter, stallAfter } = this.#reply;
    if (stallAfter !== undefined && this.#sent >= stallAfter) {
      await this.#pinging(wire, () => new Gate().wait(this.#signal));
      return false;
    }
    const limit = cutAfter ?? endAfter;
    const rest = limit === undefined ? bytes : bytes.subarray(0, Math.max(0, limit - this.#sent));
    for (let at = 0; at < rest.length; at += split ?? rest.length) {
      if (this.#signal.aborted) return false;
      await this.#flush(rest.subarray(at, at + (split ?? rest.length)));
    }
    this.#sent += rest.length;
    if (rest.length === bytes.length && this.#sent !== limit) return true;
    if (cutAfter !== undefined) this.#response.destroy();
    else this.#response.end();
    return false;
  }

  #flush(bytes: Buffer): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#signal.removeEventListener("abort", done);
        resolve();
      };
      this.#signal.addEventListener("abort", done, { once: true });
      this.#response.write(bytes, done);
    });
  }

  async #pinging(wire: Wire, wait: () => Promise<boolean>): Promise<void> {
    const every = this.#reply.pingEveryMs;
    const ping = wire.name === "anthropic" ? wire.frame('{"type":"ping"}') : ": keep-alive\n\n";
    const timer = every === undefined ? undefined : setInterval(() => this.#response.write(ping), every);
    await wait();
    clearInterval(timer);
  }
}

async function readJson(incoming: IncomingMessage): Promise<WireBody> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  try {
    return JSON.parse(Buffer.concat(parts).toString("utf8")) as WireBody;
  } catch {
    return {};
  }
}

function sendJson(response: ServerResponse, status: number, body: JsonValue): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function noAnswer(index: number): ServerReply {
  return {
    status: 500,
    error: { code: "script_ended", message: `The script has no answer for request ${index + 1}.` },
  };
}
