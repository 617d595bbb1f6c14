import type { ToolCallManager } from "@shedkit/shed";
import type { DocumentStore, KvMemoryStore, MemoryDocumentStore, MemoryStore, SessionLease } from "@shedkit/store";
import type { Infer, TypedSchema } from "@shedkit/tool";
import {
  AgenticError,
  type ApprovalDecision,
  type ContextSearch,
  type JsonSchema,
  type MemoryAccess,
  type Message,
  type MessageLike,
  type SessionId,
  type Usage,
  type UserMessage,
} from "@shedkit/types";
import { type AgentSessionBuilder, newBuilder } from "./builder.js";
import type { Children } from "./children.js";
import type { CompactionResult } from "./context/context.js";
import type { ExportOptions } from "./log/export.js";
import type { WorkingMemory } from "./memory/working-memory.js";
import type { ModelSource, Models } from "./models.js";
import type { Settings } from "./settings.js";
import { type Answer, answerOf } from "./turn/answer.js";
import { Channel } from "./turn/channel.js";
import { Followers, type FollowOptions } from "./turn/followers.js";
import { sessionError, userMessage } from "./turn/prompt.js";
import { RunningTurn, type TurnOptions, type TurnParts } from "./turn/running-turn.js";
import type { StreamItem } from "./turn/stream-item.js";
import type { SessionEvent, SessionItem } from "./turn/subscription.js";
import type { Turn } from "./turn/turn.js";
import { TurnStream } from "./turn/turn-stream.js";

/** @internal What a builder hands over. */
export interface SessionInternals<D extends DocumentStore, M extends MemoryStore> extends TurnParts {
  docStore: D;
  memoryStore: M;
  lease: SessionLease;
  models: Models;
  recall: ContextSearch;
  children: Children;
  facts: WorkingMemory;
}

/**
 * A conversation with a model that has tools: one turn at a time, all of it in an append-only log. Made by
 * {@link AgentSession.builder}; `end()` when done.
 */
export class AgentSession<
  out D extends DocumentStore = MemoryDocumentStore,
  out M extends MemoryStore = KvMemoryStore,
> {
  readonly #parts: SessionInternals<D, M>;
  readonly #settings: Settings<D, M>;
  readonly #followers = new Followers();
  #turn: RunningTurn | undefined;
  /** Aborts a compaction that was asked for. */
  #compacting: AbortController | undefined;
  #ending: Promise<void> | undefined;

  /** @internal */
  constructor(parts: SessionInternals<D, M>, settings: Settings<D, M>) {
    this.#parts = parts;
    this.#settings = settings;
    parts.log.listen((record) => this.#show({ type: "record", record }));
    // Also between turns: a tool may go on in the background.
    parts.tools.onNotify((notification) => this.#show({ type: "toolNotification", ...notification }));
    parts.facts.onEdit = () => {
      this.#show({ type: "progress", progress: { type: "processingMemory", kind: "working" } });
    };
  }

  /**
   * Begins a session: from a preset (loaded at the first request), a router, or one provider. What is handed in stays
   * its owner's; a preset's models are closed by `end()`.
   */
  static builder(from: ModelSource): AgentSessionBuilder<MemoryDocumentStore, KvMemoryStore> {
    return newBuilder(from);
  }

  get sessionId(): SessionId {
    return this.#parts.sessionId;
  }

  /** The store that holds the log: the one handed in. */
  get docStore(): D {
    return this.#parts.docStore;
  }

  get memoryStore(): M {
    return this.#parts.memoryStore;
  }

  /** The session's tools. */
  get toolManager(): ToolCallManager {
    return this.#parts.tools;
  }

  /** The facts that the session remembers; a change is part of its log, and the model is told with its next request. */
  get memory(): MemoryAccess {
    return this.#parts.facts;
  }

  /** What the whole session has cost: its turns, and what the memory model made of them. */
  get usage(): Usage {
    return this.#parts.log.state.usage;
  }

  /** Recall over the whole log. */
  get contextProvider(): ContextSearch {
    return this.#parts.recall;
  }

  /**
   * Runs a turn to its end. A turn that fails half-way is a {@link Turn} with a `failure`. Rejects only when it could
   * not start: AgenticError `turnInProgress`, or `session` for an ended session or an empty prompt.
   */
  async runTurn(prompt: MessageLike, options: TurnOptions = {}): Promise<Turn> {
    return this.#start(said(prompt), options, undefined).done();
  }

  /**
   * Starts a turn, whether anybody reads it or not. With `output` its final answer is held to the schema where the backend
   * can do that; unlike {@link ask}, nobody checks it. Throws as {@link runTurn} rejects.
   */
  runTurnStream(prompt: MessageLike, options: TurnOptions & { output?: JsonSchema | undefined } = {}): TurnStream {
    const channel: Channel<StreamItem> = new Channel(async () => {
      if (this.#turn !== turn) return;
      turn.loop.abort("its stream was left");
      await turn.done();
    });
    const turn = this.#start(said(prompt), options, channel, options.output);
    return new TurnStream(turn.id, channel, turn.done());
  }

  /** Runs a turn and gives its text. Rejects as {@link runTurn} does. */
  async ask(prompt: MessageLike, options?: TurnOptions): Promise<Answer>;
  /** The same, with the final answer as a value of the schema `output`. Tools stay callable. */
  async ask<S extends TypedSchema>(
    prompt: MessageLike,
    options: TurnOptions & { output: S },
  ): Promise<Answer<Infer<S>>>;
  async ask(
    prompt: MessageLike,
    options: TurnOptions & { output?: TypedSchema | undefined } = {},
  ): Promise<Answer<unknown>> {
    const { output } = options;
    const turn = await this.#start(said(prompt), options, undefined, output).done();
    if (!output) return answerOf(turn);
    const { structuredAnswer } = await import("./turn/structured.js");
    return structuredAnswer(output, turn, (again) => this.#start(said(again), options, undefined, output).done());
  }

  /**
   * Says something to the model at once: what it is doing is cancelled and it goes on with the message. Without a
   * running turn, the message waits for the next one.
   */
  steer(message: MessageLike): void {
    this.#queue("steer", message);
    this.#turn?.loop.steer();
  }

  /** Says something once the current work is done, in the same turn; without one, in the next. */
  followUp(message: MessageLike): void {
    this.#queue("followUp", message);
  }

  /** Ends the running turn, or compaction, at once; it fails with AgenticError `cancelled`. The session can go on. */
  abort(reason = "by the caller"): void {
    this.#compacting?.abort(new AgenticError("cancelled", `The compaction was aborted: ${reason}`, { reason }));
    this.#turn?.loop.abort(reason);
  }

  /** The calls that wait for leave, by the ids of their approvals. */
  pendingApprovals(): readonly string[] {
    return this.#parts.permissions.pending();
  }

  /**
   * Decides about a call that waits for leave; resolves once the decision is stored. When no turn is running (the
   * session was resumed) and nothing else waits, a turn begins that goes on with the calls; `subscribe` follows it.
   * Throws AgenticError `session` for an id that does not wait.
   */
  async approve(approvalId: string, decision: ApprovalDecision): Promise<void> {
    await this.#parts.permissions.decide(approvalId, decision);
    const waits = this.#parts.log.state.suspended && this.pendingApprovals().length === 0;
    if (waits && !this.#turn && !this.#ending) this.#start(undefined, {}, undefined);
  }

  /** Resolves when no turn is running and the memory model has no work: a moment at which `end()` breaks nothing off. */
  async settled(): Promise<void> {
    await this.#turn?.done();
    await this.#parts.memory.idle();
    await this.#parts.log.flush();
  }

  /** Aborts a running turn, waits until all is stored, and lets go of everything. May be called twice. */
  end(): Promise<void> {
    this.#followers.refuse();
    this.#ending ??= this.#end();
    return this.#ending;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  /** The conversation, from the beginning, as it stands in the log. What was retracted is left out. */
  async *messages(): AsyncGenerator<Message, void, void> {
    const { state } = this.#parts.log;
    for await (const { record } of this.#parts.docStore.read(this.sessionId)) {
      if (record.type === "conversation" && !state.retracted.has(record.message.id)) yield record.message;
    }
  }

  /**
   * Follows the session over its turns, for any number of listeners. `after` is the id of an event: what came behind it
   * is told first; `""` is the beginning. Ends with the session, or when `signal` aborts.
   */
  subscribe(options: FollowOptions = {}): AsyncIterable<SessionEvent> {
    const { subscription, start } = this.#follow(options);
    return subscription.events(start);
  }

  /**
   * The same with the raw items: every record of the log, deltas, progress. The ids are those of items, not of events.
   * A record holds the whole of what its deltas said.
   */
  items(options: FollowOptions = {}): AsyncIterable<SessionItem> {
    const { subscription, start } = this.#follow(options);
    return subscription.items(start);
  }

  /**
   * Replaces the older part of the conversation by a summary now, instead of when the window is pressed. Throws
   * AgenticError `turnInProgress`, or `compaction` where it cannot be made smaller.
   */
  async compact(): Promise<CompactionResult> {
    this.#checkIdle();
    this.#compacting = new AbortController();
    try {
      return await this.#parts.context.reduce(undefined, (item) => this.#show(item), this.#compacting.signal);
    } finally {
      this.#compacting = undefined;
    }
  }

  /**
   * A new session that goes on from here, or from the record `at` (an id; itself included), in the same store. This one
   * is not changed. Throws AgenticError `session` where the log has no such record.
   */
  async fork(at?: string): Promise<AgentSession<D, M>> {
    await this.#parts.log.flush();
    const { forkParts } = await import("./log/fork.js");
    const { parts, settings } = await forkParts(this.#parts, this.#settings, at);
    return sessionOf(parts, settings);
  }

  /**
   * The session as text: `jsonl`, one record a line, or `markdown`, to be read. `secrets` are masked, and so is what
   * looks like a key.
   */
  async *export(options: ExportOptions): AsyncGenerator<string, void, void> {
    const { exportLog } = await import("./log/export.js");
    yield* exportLog(this.#parts.docStore, this.sessionId, options);
  }

  #follow(options: FollowOptions) {
    const { docStore: store, log } = this.#parts;
    return this.#followers.follow(options, { store, sessionId: this.sessionId, lastRecordId: log.state.lastRecordId });
  }

  #start(
    prompt: (() => UserMessage) | undefined,
    options: TurnOptions,
    channel: Channel<StreamItem> | undefined,
    output?: JsonSchema | undefined,
  ): RunningTurn {
    this.#checkIdle();
    const asked = { prompt: prompt?.(), options, output };
    const turn = new RunningTurn(this.#parts, asked, channel, (item) => this.#show(item));
    this.#turn = turn;
    void turn.done(() => {
      this.#turn = undefined;
    });
    return turn;
  }

  #checkIdle(): void {
    if (this.#ending) throw sessionError("The session has ended. Build a new one, or resume it by its id.", "ended");
    if (!this.#turn && !this.#compacting) return;
    const what = this.#turn ? "A turn" : "A compaction";
    throw new AgenticError(
      "turnInProgress",
      `${what} is running. Wait for it, abort it, or use steer() or followUp() to say something meanwhile.`,
      { turnId: this.#turn?.id ?? "" },
    );
  }

  #queue(queue: "steer" | "followUp", prompt: MessageLike): void {
    if (this.#ending) throw sessionError("The session has ended. Build a new one, or resume it by its id.", "ended");
    // A log that cannot take it fails the running turn, or the next one.
    this.#parts.log.append({ type: "queued", queue, message: userMessage(prompt) }).catch(() => undefined);
  }

  #show(item: StreamItem): void {
    const turnId = this.#turn?.id ?? "";
    this.#turn?.take(item);
    this.#followers.show(item, turnId);
  }

  async #end(): Promise<void> {
    const { log, lease, models, memory, tools, children } = this.#parts;
    const turn = this.#turn;
    this.#compacting?.abort(new AgenticError("cancelled", "The session ends.", { reason: "the session ends" }));
    if (turn) {
      this.#show({ type: "progress", progress: { type: "sessionEnding" } });
      turn.loop.suspend();
      await turn.done();
    }
    await children.end();
    await memory.end();
    if (log.pending > 0) this.#show({ type: "progress", progress: { type: "flushingRecords", count: log.pending } });
    await log.flush();
    this.#followers.close();
    try {
      await tools.close();
    } finally {
      await lease.release();
      await models.release();
    }
  }
}

/** What is said to a turn that may start: a turn that runs is the first thing to tell of. */
function said(prompt: MessageLike): () => UserMessage {
  return () => userMessage(prompt);
}

/** Outside of the class: bundled, a class that names itself would go by another name. */
function sessionOf<D extends DocumentStore, M extends MemoryStore>(
  parts: SessionInternals<D, M>,
  settings: Settings<D, M>,
): AgentSession<D, M> {
  return new AgentSession(parts, settings);
}

/** Any session, whatever its stores: what a function should take. */
export type AnyAgentSession = AgentSession<DocumentStore, MemoryStore>;
