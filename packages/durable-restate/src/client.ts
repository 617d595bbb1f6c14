import type { Answer, SessionEvent, SessionItem, TurnOptions } from "@shedkit/agent";
import { answerFrom, EventMapper, mapped } from "@shedkit/agent/internals";
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
import type { Connection } from "./connection.js";
import { type Following, follow } from "./follow.js";
import { checkData } from "./plain-data.js";
import { DurableTurn } from "./turn.js";
import type { InboxItem, LogPage, TurnRequest } from "./wire.js";

/** How many records before a place a feed may still show. */
const RECENT = 200;

/** Settings of one turn. All of it is data: it travels. */
export type DurableTurnOptions = Omit<TurnOptions, "signal">;

/** Where a follower begins, and when it leaves. */
export interface FollowOptions {
  /** The id of an item or event: what came behind it is told first; `""` is the beginning. Default: what comes now. */
  after?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Talks to an agent's sessions. */
export class DurableClient {
  readonly #connection: Connection;

  /** @internal */
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The session of that id, which its first turn begins. Default: a new id. */
  session(id: string = newId()): DurableSession {
    return new DurableSession(this.#connection, id, false);
  }

  /** The session of that id. Rejects with AgenticError `sessionNotFound` where the store has none. */
  async resume(id: string): Promise<DurableSession> {
    const { records } = await this.#connection.log(id, { last: 1 });
    if (records.length === 0) {
      throw new AgenticError("sessionNotFound", `There is no session "${id}" in the store.`, { sessionId: id });
    }
    return new DurableSession(this.#connection, id, true);
  }
}

/** A session that runs on whatever worker there is. Turns asked for at the same time run one after the other. */
export class DurableSession {
  readonly sessionId: string;
  readonly #connection: Connection;
  readonly #mustExist: boolean;

  /** @internal */
  constructor(connection: Connection, sessionId: string, mustExist: boolean) {
    this.#connection = connection;
    this.#mustExist = mustExist;
    this.sessionId = sessionId;
  }

  /**
   * Runs a turn and gives its text; with `output`, the answer as a value of the schema. As `AgentSession.ask`. Waits for
   * as long as the turn takes, also for days.
   */
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
    const from = this.#place();
    const answer = from.then(() => this.#turn(message, options));
    answer.catch(() => undefined); // whoever reads is told
    const items = async function* (this: DurableSession) {
      yield* this.#follow({ from: await from, ended: answer, toTheEnd: true });
    };
    return new DurableTurn(message.id, items.call(this), answer);
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
   * Decides about a call that waits for leave, or answers one that asks (`ask_user`) by `answer`. Resolves once the
   * decision cannot be lost. Rejects with AgenticError `session` (reason "unknown approval") for an id that does not wait.
   */
  async approve(approvalId: string, decision: ApprovalDecision): Promise<void> {
    checkData(decision, "decision");
    const waits = (await this.pendingApprovals()).includes(approvalId);
    if (waits && (await this.#put({ type: "approve", approvalId, decision }))) return;
    throw new AgenticError(
      "session",
      `Nothing waits for the approval "${approvalId}". pendingApprovals() names those that wait.`,
      { reason: "unknown approval" },
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
      const page = await this.#log({ after: at });
      yield* page.records;
      at = page.seq;
      more = page.more;
    }
  }

  /**
   * Follows the session over its turns, whoever asks for them and whatever worker runs them; for any number of readers.
   * As `AgentSession.items`: each record once, and what is being made as it comes. Ends when `signal` aborts.
   */
  async *items({ after, signal }: FollowOptions = {}): AsyncGenerator<SessionItem, void, void> {
    if (signal?.aborted) return;
    let leave: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      leave = resolve;
    });
    signal?.addEventListener("abort", leave, { once: true });
    try {
      const [recordId = ""] = (after ?? "").split("~");
      await this.#connection.watch(this.sessionId);
      const recent = await this.#log({ last: RECENT });
      const seq = after === undefined ? recent.seq : 0;
      const known = after === undefined ? recent.records.map(({ id }) => id) : [];
      yield* this.#follow({
        ...{ from: { seq, n: 0 }, known, ended, toTheEnd: false },
        ...(recordId !== "" && { after: recordId }),
      });
    } finally {
      signal?.removeEventListener("abort", leave);
      leave();
    }
  }

  /** The same as events, for people who show them. As `AgentSession.subscribe`. */
  subscribe(options: FollowOptions = {}): AsyncIterable<SessionEvent> {
    const mapper = new EventMapper();
    return mapped(this.items(options), (item) => {
      const event = mapper.map(item);
      return event && { ...event, id: item.id, turnId: item.turnId };
    });
  }

  #log(range: { after: number } | { last: number }): Promise<LogPage> {
    return this.#connection.log(this.sessionId, range);
  }

  async #turn(
    prompt: UserMessage,
    options: DurableTurnOptions & { output?: TypedSchema | undefined },
  ): Promise<Answer<unknown>> {
    checkData(options);
    const { output, ...others } = options;
    const request: TurnRequest = { prompt, options: others, mustExist: this.#mustExist, ...(output && { output }) };
    const turn = await this.#connection.begin(this.sessionId, request);
    return answerFrom(await this.#connection.result(turn));
  }

  #put(item: InboxItem): Promise<boolean> {
    return this.#connection.put(this.sessionId, item, newId());
  }

  /** Where the log and the feed stand. */
  async #place(): Promise<{ seq: number; n: number }> {
    const [{ seq }, n] = await Promise.all([this.#log({ last: 1 }), this.#connection.watch(this.sessionId)]);
    return { seq, n };
  }

  #follow(options: Following): AsyncGenerator<SessionItem, void, void> {
    const { sessionId } = this;
    const log = (range: { after: number } | { last: number }) => this.#connection.log(sessionId, range);
    const pull = (after: number) => this.#connection.pull(sessionId, after);
    return follow({ log, pull }, options);
  }
}

function messageOf(prompt: MessageLike): UserMessage {
  const message = toMessage(prompt);
  if (message.type === "user") return message;
  throw new AgenticError("session", `A prompt is a user message, not one of type "${message.type}".`, {
    reason: "not a user message",
  });
}
