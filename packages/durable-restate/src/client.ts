import { HttpCallError, type Ingress, rpc } from "@restatedev/restate-sdk-clients";
import type { Answer, SessionItem, StreamItem, TurnOptions } from "@shedkit/agent";
import { answerFrom } from "@shedkit/agent/internals";
import type { Infer, TypedSchema } from "@shedkit/tool";
import {
  AgenticError,
  type ApprovalDecision,
  type MessageLike,
  newId,
  type SessionRecord,
  toMessage,
  type UserMessage,
} from "@shedkit/types";
import type { FeedHandlers } from "./feed.js";
import type { InboxHandlers } from "./inbox.js";
import { checkData } from "./plain-data.js";
import type { SessionHandlers } from "./service.js";
import type { InboxItem, LogPage, TurnReply, TurnRequest } from "./wire.js";

/** How soon a feed is asked again that could not be asked. */
const RETRY_MS = 1000;

/** Settings of one turn. All of it is data: it travels. */
export type DurableTurnOptions = Omit<TurnOptions, "signal">;

/** Talks to an agent's sessions. */
export class DurableClient {
  readonly #name: string;
  readonly #ingress: Ingress;

  /** @internal */
  constructor(name: string, ingress: Ingress) {
    this.#name = name;
    this.#ingress = ingress;
  }

  /** The session of that id, which its first turn begins. Default: a new id. */
  session(id: string = newId()): DurableSession {
    return new DurableSession(this.#name, this.#ingress, id, false);
  }

  /** The session of that id. Rejects with AgenticError `sessionNotFound` where the store has none. */
  async resume(id: string): Promise<DurableSession> {
    const session = new DurableSession(this.#name, this.#ingress, id, true);
    const { records } = await session.log({ last: 1 });
    if (records.length === 0) {
      throw new AgenticError("sessionNotFound", `There is no session "${id}" in the store.`, { sessionId: id });
    }
    return session;
  }
}

/** A session that runs on whatever worker there is. Turns asked for at the same time run one after the other. */
export class DurableSession {
  readonly sessionId: string;
  readonly #name: string;
  readonly #ingress: Ingress;
  readonly #mustExist: boolean;

  /** @internal */
  constructor(name: string, ingress: Ingress, sessionId: string, mustExist: boolean) {
    this.#name = name;
    this.#ingress = ingress;
    this.sessionId = sessionId;
    this.#mustExist = mustExist;
  }

  /** Runs a turn and gives its text; with `output`, the answer as a value of the schema. As `AgentSession.ask`. */
  async ask(prompt: MessageLike, options?: DurableTurnOptions): Promise<Answer>;
  async ask<S extends TypedSchema>(
    prompt: MessageLike,
    options: DurableTurnOptions & { output: S },
  ): Promise<Answer<Infer<S>>>;
  async ask(
    prompt: MessageLike,
    options: DurableTurnOptions & { output?: TypedSchema | undefined } = {},
  ): Promise<Answer<unknown>> {
    return this.#turn(messageOf(prompt), options);
  }

  /** Starts a turn. Its items come as they are made, from whatever worker; leaving them ends nothing. */
  runTurnStream(prompt: MessageLike, options: DurableTurnOptions = {}): DurableTurn {
    const message = messageOf(prompt);
    checkData(options);
    const place = this.#place();
    const answer = place.then(() => this.#turn(message, options));
    answer.catch(() => undefined); // whoever reads is told
    return new DurableTurn(this.#items(place, message.id, answer), answer);
  }

  /** Says something to the model at once. Resolves once it cannot be lost; without a running turn it waits for the next. */
  async steer(message: MessageLike): Promise<void> {
    await this.#put({ type: "steer", message: messageOf(message) });
  }

  /** Says something once the current work is done. Resolves once it cannot be lost. */
  async followUp(message: MessageLike): Promise<void> {
    await this.#put({ type: "followUp", message: messageOf(message) });
  }

  /** Ends the running turn; false where none is running. */
  abort(reason = "by the caller"): Promise<boolean> {
    return this.#put({ type: "abort", reason });
  }

  /**
   * Decides about a call that waits for leave. Resolves once the decision cannot be lost. Rejects with AgenticError
   * `session` (reason "unknown approval") for an id that does not wait.
   */
  async approve(approvalId: string, decision: ApprovalDecision): Promise<void> {
    const waits = (await this.pendingApprovals()).includes(approvalId);
    if (waits && (await this.#put({ type: "approve", approvalId, decision }))) return;
    throw new AgenticError(
      "session",
      `Nothing waits for the approval "${approvalId}". pendingApprovals() names those that wait.`,
      {
        reason: "unknown approval",
      },
    );
  }

  /** The ids of the approvals that wait. */
  async pendingApprovals(): Promise<string[]> {
    const waiting = new Map<string, string>();
    for await (const record of this.records()) {
      if (record.type === "approvalRequested") waiting.set(record.approvalId, record.toolCallId);
      else if (record.type === "approvalDecided") waiting.delete(record.approvalId);
      else if (record.type === "toolFinished") {
        for (const [approval, call] of waiting) if (call === record.toolCallId) waiting.delete(approval);
      }
    }
    return [...waiting.keys()];
  }

  /** The log, from the beginning or from behind a place. */
  async *records(after = 0): AsyncGenerator<SessionRecord, void, void> {
    for (let at = after, more = true; more; ) {
      const page = await this.log({ after: at });
      yield* page.records;
      at = page.seq;
      more = page.more;
    }
  }

  /** @internal A page of the log. */
  log(range: { after: number } | { last: number }): Promise<LogPage> {
    return told(this.#ingress.objectClient<SessionHandlers>({ name: this.#name }, this.sessionId).log(range));
  }

  async #turn(
    prompt: UserMessage,
    options: DurableTurnOptions & { output?: TypedSchema | undefined },
  ): Promise<Answer<unknown>> {
    checkData(options);
    const { output, ...others } = options;
    const request: TurnRequest = { prompt, options: others, mustExist: this.#mustExist, ...(output && { output }) };
    const session = this.#ingress.objectClient<SessionHandlers>({ name: this.#name }, this.sessionId);
    // Sent again after a lost connection, it is the same turn.
    const reply: TurnReply = await told(session.turn(request, rpc.opts({ idempotencyKey: prompt.id })));
    return answerFrom(reply);
  }

  async #put(item: InboxItem): Promise<boolean> {
    const inbox = this.#ingress.objectClient<InboxHandlers>({ name: `${this.#name}.inbox` }, this.sessionId);
    return told(inbox.put(item, rpc.opts({ idempotencyKey: newId() })));
  }

  #feed() {
    return this.#ingress.objectClient<FeedHandlers>({ name: `${this.#name}.feed` }, this.sessionId);
  }

  /** Where the log and the feed stand. */
  async #place(): Promise<{ seq: number; n: number }> {
    const [{ seq }, n] = await Promise.all([this.log({ last: 1 }), told(this.#feed().watch())]);
    return { seq, n };
  }

  async *#items(
    place: Promise<{ seq: number; n: number }>,
    promptId: string,
    answer: Promise<unknown>,
  ): AsyncGenerator<StreamItem, void, void> {
    const { seq, n } = await place;
    let over = false;
    const ended = answer.then(
      () => undefined,
      () => undefined,
    );
    void ended.then(() => {
      over = true;
    });
    const reader = new Reader(promptId);
    for (let after = n; !over && !reader.ended; ) {
      const page = await Promise.race([told(this.#feed().pull(after)).catch(() => undefined), ended]);
      if (over) break;
      // Nothing came, or some passed by: the log has all records, whatever became of what was sent.
      if (!page || page.n - after !== page.items.length || page.items.length === 0) {
        yield* reader.records(this.records(seq));
      }
      if (!page) await Promise.race([new Promise((resolve) => setTimeout(resolve, RETRY_MS)), ended]);
      else {
        after = page.n;
        for (const item of page.items) yield* reader.item(item);
      }
    }
    await ended;
    yield* reader.records(this.records(seq));
  }
}

/** Which items are of one turn, each record once. */
class Reader {
  ended = false;
  readonly #promptId: string;
  readonly #seen = new Set<string>();
  #begun = false;

  constructor(promptId: string) {
    this.#promptId = promptId;
  }

  *item({ id: _, turnId: __, ...item }: SessionItem): Generator<StreamItem, void, void> {
    if (item.type === "record") yield* this.#record(item.record);
    else if (this.#begun && !this.ended) yield item as StreamItem;
  }

  async *records(records: AsyncIterable<SessionRecord>): AsyncGenerator<StreamItem, void, void> {
    for await (const record of records) yield* this.#record(record);
  }

  *#record(record: SessionRecord): Generator<StreamItem, void, void> {
    if (this.#seen.has(record.id) || this.ended) return;
    const begins = (record.type === "conversation" || record.type === "queued") && record.message.id === this.#promptId;
    this.#begun ||= begins;
    if (!this.#begun) return;
    this.#seen.add(record.id);
    this.ended = record.type === "summary" || record.type === "failedAction";
    yield { type: "record", record };
  }
}

/** A turn that runs somewhere. */
export class DurableTurn implements AsyncIterable<StreamItem> {
  readonly #items: AsyncIterable<StreamItem>;
  readonly #answer: Promise<Answer>;

  /** @internal */
  constructor(items: AsyncIterable<StreamItem>, answer: Promise<Answer<unknown>>) {
    this.#items = items;
    this.#answer = answer as Promise<Answer>;
  }

  /** The raw items: records, deltas, progress. Every record of the turn, each once. One reader. */
  [Symbol.asyncIterator](): AsyncIterator<StreamItem, void, void> {
    return this.#items[Symbol.asyncIterator]();
  }

  /** What the turn came to. Rejects where it did not start. */
  done(): Promise<Answer> {
    return this.#answer;
  }
}

function messageOf(prompt: MessageLike): UserMessage {
  const message = toMessage(prompt);
  if (message.type === "user") return message;
  throw new AgenticError("session", `A prompt is a user message, not one of type "${message.type}".`, {
    reason: "not a user message",
  });
}

/** What Restate's ingress says, in words of ours. */
async function told<T>(call: PromiseLike<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    if (cause instanceof HttpCallError) {
      const missing = cause.status === 404;
      const text = missing
        ? `Restate knows no such agent: ${cause.message} Start a worker and register it.`
        : `Restate answered with an error (${cause.status}): ${cause.message}`;
      throw new AgenticError("session", text, { reason: missing ? "unknown agent" : "restate failed" }, { cause });
    }
    const why =
      cause instanceof Error ? (cause.cause instanceof Error ? cause.cause.message : cause.message) : String(cause);
    throw new AgenticError(
      "session",
      `Restate cannot be reached: ${why} Check the address of its ingress and that the server runs.`,
      { reason: "restate unreachable" },
      { cause, retryable: true },
    );
  }
}
