import { connect, HttpCallError, type Ingress, rpc, type Send } from "@restatedev/restate-sdk-clients";
import { AgenticError } from "@shedkit/types";
import type { FeedHandlers } from "./feed.js";
import type { InboxHandlers } from "./inbox.js";
import type { SessionHandlers } from "./service.js";
import type { FeedPage, InboxItem, LogPage, TurnReply, TurnRequest } from "./wire.js";

/** How often a message is sent that got lost on the way. */
const ATTEMPTS = 3;
const RETRY_MS = 200;
/** How long Restate may be away while a turn is waited for. */
const LONGEST_AWAY_MS = 60_000;
const AWAY_RETRY_MS = 1000;
/** In characters: of what is longer, a lost connection most likely means that it is too long. */
const LARGE = 32 * 1024 * 1024;

/** Restate's ingress, as the sessions of one agent use it. Failures are AgenticErrors. */
export class Connection {
  readonly #name: string;
  readonly #ingress: Ingress;

  constructor(name: string, ingress: string) {
    this.#name = name;
    this.#ingress = connect({ url: addressOf(ingress, "ingress") });
  }

  log(sessionId: string, range: { after: number } | { last: number }): Promise<LogPage> {
    return told(() => this.#session(sessionId).log(range));
  }

  /** Begins a turn. Sent again after a lost connection, it is the same turn. */
  async begin(sessionId: string, request: TurnRequest): Promise<Send<TurnReply>> {
    const session = this.#ingress.objectSendClient<SessionHandlers>({ name: this.#name }, sessionId);
    const begin = () => session.turn(request, rpc.sendOpts({ idempotencyKey: request.prompt.id }));
    if (JSON.stringify(request).length < LARGE) return sent(begin);
    return told(begin).catch((cause) => {
      // What is too large is not read to its end: the answer that says so may be lost with the connection.
      throw AgenticError.is(cause, "session") && cause.details.reason === "restate unreachable"
        ? tooLarge(cause)
        : cause;
    });
  }

  /** What the turn comes to, however long it takes: a connection ends long before. */
  async result(turn: Send<TurnReply>): Promise<TurnReply> {
    for (let lost: number | undefined; ; ) {
      const began = performance.now();
      try {
        return await told(() => this.#ingress.result(turn));
      } catch (error) {
        const away = AgenticError.is(error, "session") && error.retryable;
        // A connection that was held for long is no sign of a server that is away.
        lost = performance.now() - began > LONGEST_AWAY_MS ? undefined : (lost ?? began);
        if (!away || (lost !== undefined && performance.now() - lost > LONGEST_AWAY_MS)) throw error;
        await new Promise((resolve) => setTimeout(resolve, AWAY_RETRY_MS));
      }
    }
  }

  put(sessionId: string, item: InboxItem, idempotencyKey: string): Promise<boolean> {
    const inbox = this.#ingress.objectClient<InboxHandlers>({ name: `${this.#name}.inbox` }, sessionId);
    return sent(() => inbox.put(item, rpc.opts({ idempotencyKey })));
  }

  watch(sessionId: string): Promise<number> {
    return told(() => this.#feed(sessionId).watch());
  }

  pull(sessionId: string, after: number): Promise<FeedPage> {
    return told(() => this.#feed(sessionId).pull(after));
  }

  #session(sessionId: string) {
    return this.#ingress.objectClient<SessionHandlers>({ name: this.#name }, sessionId);
  }

  #feed(sessionId: string) {
    return this.#ingress.objectClient<FeedHandlers>({ name: `${this.#name}.feed` }, sessionId);
  }
}

/** An address without what may stand behind it. Throws AgenticError `session` for a text that is none. */
export function addressOf(text: string, what: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url.href.replace(/\/+$/, "");
  throw new AgenticError(
    "session",
    `The address of Restate's ${what} is "${text}". It must begin with http:// or https://, such as http://127.0.0.1:8080.`,
    { reason: "bad address" },
  );
}

/** As {@link told}, for what does no harm when it comes twice. */
async function sent<T>(call: () => PromiseLike<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await told(call);
    } catch (error) {
      if (attempt === ATTEMPTS || !AgenticError.is(error) || !error.retryable) throw error;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** What Restate's ingress says, in words of ours. */
async function told<T>(call: () => PromiseLike<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (cause instanceof HttpCallError) {
      throw answered(cause);
    }
    if (codeOf(cause) === "UND_ERR_HEADERS_TIMEOUT") {
      const text = "No worker has answered in minutes: Restate keeps what was asked until one is there. Start one.";
      throw new AgenticError("session", text, { reason: "no worker" }, { cause, retryable: true });
    }
    throw unreachable(cause, "Check the address of its ingress and that the server runs.");
  }
}

function answered(cause: HttpCallError): AgenticError {
  const { status, message } = cause;
  if (status === 404) {
    const text = `Restate knows no such agent: ${message} Start a worker and register it.`;
    return new AgenticError("session", text, { reason: "unknown agent" }, { cause });
  }
  if (status === 413) {
    return tooLarge(cause);
  }
  const text = `Restate answered with an error (${status}): ${message}`;
  return new AgenticError("session", text, { reason: "restate failed" }, { cause, retryable: status === 503 });
}

function tooLarge(cause: unknown): AgenticError {
  const text =
    "What was sent is too large for Restate, which takes 32 MiB at once by its usual settings. Send less: a tool can read the rest.";
  return new AgenticError("session", text, { reason: "too large" }, { cause });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? (error.cause as { code?: unknown } | undefined)?.code : undefined;
}

export function unreachable(cause: unknown, hint: string, where = ""): AgenticError {
  const why =
    cause instanceof Error ? (cause.cause instanceof Error ? cause.cause.message : cause.message) : String(cause);
  return new AgenticError(
    "session",
    `Restate cannot be reached${where}: ${why || "no answer"}. ${hint}`,
    { reason: "restate unreachable" },
    { cause, retryable: true },
  );
}
