import type { AnyAgentSession, Turn, TurnEvent, TurnOptions, TurnStream } from "@shedkit/agent";
import { structuredAnswer } from "@shedkit/agent/internals";
import type { TypedSchema } from "@shedkit/tool";
import {
  type AgenticError,
  type FinishReason,
  type JsonSchema,
  noUsage,
  type SessionId,
  type Usage,
  type UserMessage,
} from "@shedkit/types";
import type { ClientCall, ClientTools } from "./client-tools.js";

/** What an answer came to, or the part of it up to calls of the client. */
export interface Answered {
  text: string;
  usage: Usage;
  /** How the model ended. */
  finish: FinishReason;
  /** Calls that the client is to run: the answer goes on with their results. */
  calls: readonly ClientCall[];
  /** Why it broke off. */
  error?: AgenticError | undefined;
}

/** Somebody is told of each piece of an answer as it comes. */
export interface Listener {
  text(delta: string): void;
  thinking(delta: string): void;
}

export interface AskingOptions {
  session: AnyAgentSession;
  tools: ClientTools;
  /** The final answer is JSON of this schema. */
  output?: JsonSchema | undefined;
  params: TurnOptions["params"];
  /** Lets go of the session. */
  leave(): Promise<void>;
}

/** Nobody sits behind this endpoint who could be asked. */
const NOBODY = "nobody can be asked for leave through this endpoint; answer without it";
const NOT_NOW = "The answer is to be mended now, without calls.";

/** A question that is being answered. It may stop at calls of the client, and goes on when these have their results. */
export class Asking {
  readonly tools: ClientTools;
  readonly #options: AskingOptions;
  readonly #stop = new AbortController();
  readonly #takeAway: () => void;
  #turn: TurnStream | undefined;
  #events: AsyncIterator<TurnEvent, unknown, unknown> | undefined;
  #next: Promise<IteratorResult<TurnEvent, unknown>> | undefined;
  #text = "";
  #settled = 0; // where the text since the last tool result begins
  #ended: { usage: Usage; error?: AgenticError | undefined } | undefined;
  /** What the session had cost when the part began. */
  #before: Usage;
  #parts = 0;

  /** Throws ParamError for a tool that cannot be one. */
  constructor(options: AskingOptions) {
    this.#options = options;
    this.tools = options.tools;
    this.#takeAway = options.tools.register(options.session);
    this.#before = options.session.usage;
  }

  /** Starts the turn and says its id. Throws as `runTurnStream` does. */
  start(prompt: UserMessage): string {
    this.#run(prompt);
    return this.id;
  }

  get sessionId(): SessionId {
    return this.#options.session.sessionId;
  }

  /** Of the turn, and which part of it is being answered. */
  get id(): string {
    const part = this.#parts === 0 ? "" : `~${this.#parts}`;
    return `${this.#turn?.turnId ?? ""}${part}`;
  }

  /**
   * The answer, up to calls of the client. What is said between tool calls is set apart by an empty line. What was told to a
   * listener cannot be taken back; the text that is returned leaves out what did not count. An answer that is JSON is told
   * in one piece, when it fits.
   */
  async answered(signal: AbortSignal, listener?: Listener): Promise<Answered> {
    const stop = () => this.#stop.abort(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    try {
      const told = this.#options.output === undefined ? listener : undefined;
      if (!(await this.#read(told))) return this.#part(this.tools.calls);
      const turn = await (this.#turn as TurnStream).done();
      const answered = this.#options.output === undefined ? this.#part([]) : await this.#checked(turn);
      if (told === undefined && answered.error === undefined) listener?.text(answered.text);
      return { ...answered, finish: finishOf(turn) };
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** Breaks the turn off where it still runs, and lets go of the session. */
  async leave(): Promise<void> {
    this.#stop.abort(new Error("nobody waits for the answer any more"));
    await this.#turn?.done();
    this.#takeAway();
    await this.#options.leave();
  }

  #run(prompt: UserMessage): TurnStream {
    const { session, params, output } = this.#options;
    this.#turn = session.runTurnStream(prompt, { params, output, signal: this.#stop.signal });
    this.#events = this.#turn.events()[Symbol.asyncIterator]();
    this.#next = undefined;
    return this.#turn;
  }

  /** False: there are calls to hand over. */
  async #read(listener: Listener | undefined): Promise<boolean> {
    const events = this.#events as AsyncIterator<TurnEvent, unknown, unknown>;
    for (;;) {
      this.#next ??= events.next();
      const next = await Promise.race([this.#next, this.tools.ready()]);
      if (next === undefined) return false;
      this.#next = undefined;
      if (next.done) return true;
      await this.#take(next.value, listener);
    }
  }

  async #take(event: TurnEvent, listener: Listener | undefined): Promise<void> {
    const { session } = this.#options;
    switch (event.type) {
      case "text": {
        const stands = this.#text.length > 0 && this.#text.length === this.#settled;
        const delta = (stands && !this.#text.endsWith("\n\n") ? "\n\n" : "") + event.delta;
        this.#text += delta;
        listener?.text(delta);
        return;
      }
      case "thinking":
        listener?.thinking(event.delta);
        return;
      case "toolCall":
        this.tools.made(event.id, event.name);
        return;
      case "toolResult":
        this.tools.ended(event.toolCallId);
        this.#settled = this.#text.length;
        return;
      case "retract":
        this.#text = this.#text.slice(0, this.#settled);
        return;
      case "approvalRequested":
        await session.approve(
          event.approvalId,
          this.tools.has(event.name) ? { type: "allow", scope: "once" } : { type: "deny", reason: NOBODY },
        );
        return;
      case "failed":
        this.#ended = event;
        return;
      case "done":
        this.#ended = { usage: event.summary.usage };
    }
  }

  /** What was said since the last part, and what it cost. */
  #part(calls: readonly ClientCall[]): Answered {
    const { usage: now } = this.#options.session;
    const usage = this.#parts === 0 && this.#ended ? this.#ended.usage : since(now, this.#before);
    const text = this.#text;
    this.#before = now;
    this.#text = "";
    this.#settled = 0;
    if (calls.length > 0) this.#parts++;
    return { text, usage, calls, finish: "toolUse", error: this.#ended?.error };
  }

  /** The answer as JSON of the schema: one that does not fit is asked for again. */
  async #checked(turn: Turn): Promise<Answered> {
    const answer = await structuredAnswer(this.#options.output as TypedSchema, turn, async (prompt) => {
      const again = this.#run(prompt);
      while (!(await this.#read(undefined))) this.tools.refuse(NOT_NOW);
      return again.done();
    });
    const part = this.#part([]);
    if (answer.type === "failed") return { ...part, error: answer.error };
    return { ...part, usage: this.#parts === 0 ? answer.usage : part.usage, text: JSON.stringify(answer.value) };
  }
}

function finishOf(turn: Turn): FinishReason {
  return turn.records.findLast((record) => record.type === "step")?.finish ?? "stop";
}

function since(now: Usage, before: Usage): Usage {
  const { input, output, cacheRead, cacheWrite, reasoning, total, costUsd } = now;
  return {
    ...noUsage,
    input: input - before.input,
    output: output - before.output,
    cacheRead: cacheRead - before.cacheRead,
    cacheWrite: cacheWrite - before.cacheWrite,
    reasoning: reasoning - before.reasoning,
    total: total - before.total,
    ...(costUsd !== undefined && { costUsd: costUsd - (before.costUsd ?? 0) }),
  };
}
