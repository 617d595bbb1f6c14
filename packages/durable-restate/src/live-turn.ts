import type { AnyAgentSession, SessionItem } from "@shedkit/agent";
import {
  type LoopEffects,
  type Models,
  type OpenCall,
  type SessionEngine,
  settingsOf,
  withEngine,
} from "@shedkit/agent/internals";
import type { ToolCallManager } from "@shedkit/shed";
import { metadataOf, type TypedSchema } from "@shedkit/tool";
import { AgenticError, type SessionId, type SessionRecord } from "@shedkit/types";
import { checkTool, type DurableDefinition } from "./definition.js";
import { Steps } from "./steps.js";
import type { InboxItem, TurnReply, TurnRequest } from "./wire.js";

/** How long another turn of this process may take to let go of the session. */
const LONGEST_WAIT_MS = 60_000;
/** Failures that say nothing of the turn: the worker cannot reach the log any more, or another one has it. */
const LOST: readonly AgenticError["code"][] = ["store", "sessionBusy"];

/** What the pump is told: what the turn comes to next. */
export type Next =
  | { type: "model" }
  | { type: "calls"; calls: { id: string; name: string }[] }
  /** `seq`: how long the log is. `stored`: the ids of what was said meanwhile and is in it. */
  | { type: "done"; reply: TurnReply; seq: number; stored: string[] };

export type CallState = { type: "finished" } | { type: "waits"; approvalId: string };

export interface TurnPlace {
  definition: DurableDefinition;
  /** What is loaded of them serves all turns of the process. */
  models: Models;
  sessionId: SessionId;
  turnId: string;
  request: TurnRequest;
  /** How long the log was before the turn. */
  base: number;
  /** Shown as it comes. */
  show(item: SessionItem): void;
}

/**
 * A turn as far as this process runs it: opened when the first step is due that no worker has done, from what the log
 * says. The loop runs by itself, but each model call and each tool call waits for its step.
 */
export class LiveTurn {
  readonly #place: TurnPlace;
  readonly #steps = new Steps();
  readonly #abandoned = new AbortController();
  /** What was said to the session before it was open here. */
  #said: InboxItem[] = [];
  /** Ends when all that was said so far has had its effect. */
  #taking: Promise<void> = Promise.resolve();
  /** The ids of messages of the queue that are in the log. */
  readonly #stored = new Set<string>();
  #opening: Promise<AnyAgentSession> | undefined;
  #session: AnyAgentSession | undefined;
  #turns = 0;
  #ended = false;
  /** Why the session could not be opened. */
  #refusal: AgenticError | undefined;
  #soFar: SessionRecord[] = [];
  #seq: number;

  constructor(place: TurnPlace) {
    this.#place = place;
    this.#seq = place.base;
  }

  /** Lets the waiting model call go, where there is one, and resolves with what follows. */
  async advance(): Promise<Next> {
    if (!(await this.#opened())) return this.#refused();
    return this.#steps.advance();
  }

  /** Lets a call run and resolves when its result is in the log, or when it waits for leave. */
  async call(id: string): Promise<CallState> {
    if (!(await this.#opened())) return { type: "finished" };
    await this.#taking;
    return this.#steps.call(id);
  }

  /** Something was said to the session. What the log has already is left out. */
  deliver(items: readonly InboxItem[]): void {
    this.#said.push(...items);
    if (this.#session) this.#take(this.#session);
  }

  /** This process has nothing to do with the turn any more: it writes nothing, and lets go. */
  async abandon(): Promise<void> {
    this.#abandoned.abort(
      new AgenticError("cancelled", "Another worker goes on with the turn.", { reason: "abandoned" }),
    );
    this.#steps.fail(new Error("The attempt is over."));
    const session = await this.#opening?.catch(() => undefined);
    await session?.end().catch(() => undefined);
  }

  #refused(): Next {
    const error = (this.#refusal as AgenticError).toJSON();
    return { type: "done", reply: { type: "refused", error }, ...this.#end() };
  }

  async #opened(): Promise<boolean> {
    this.#opening ??= this.#open();
    try {
      await this.#opening;
      return true;
    } catch (error) {
      if (this.#abandoned.signal.aborted || !AgenticError.is(error) || LOST.includes(error.code)) {
        this.#opening = undefined;
        throw plain(error);
      }
      this.#refusal = error;
      return false;
    }
  }

  async #open(): Promise<AnyAgentSession> {
    const { definition, models, sessionId, base, request } = this.#place;
    const builder = withEngine(definition.agent.withSessionId(sessionId), this.#engine(), models);
    const { signal } = this.#abandoned;
    const session: AnyAgentSession = await builder.build({ signal, waitMs: LONGEST_WAIT_MS });
    try {
      const { toolManager } = session;
      for (const name of toolManager.names()) {
        checkTool(name, toolManager.metadata(name)?.kind ?? "other", definition.workspace);
      }
      let begun = false;
      for await (const { seq, record } of settingsOf(definition.agent).docStore.read(sessionId, { after: base })) {
        this.#track(record);
        this.#seq = Math.max(this.#seq, seq);
        begun ||= carries(record, request.prompt.id);
        if (begun) this.#soFar.push(record);
      }
      if (signal.aborted) throw signal.reason;
    } catch (error) {
      await session.end();
      throw error;
    }
    this.#begin(session);
    return session;
  }

  #begin(session: AnyAgentSession): void {
    const { request, show } = this.#place;
    const { prompt, options, output } = request;
    void this.#follow(session, show);
    const asked = output
      ? session.ask(prompt, { ...options, output: output as TypedSchema })
      : session.ask(prompt, options);
    this.#session = session;
    this.#take(session);
    asked
      .then(async (answer): Promise<void> => {
        if (!answer.isComplete && LOST.includes(answer.error.code)) {
          this.#steps.fail(plain(answer.error));
          return;
        }
        await session.settled(); // the memory model's work would be broken off, and begun again at each turn
        this.#ended = true; // what comes now is for the next turn
        await session.end();
        const { text, usage } = answer;
        const reply: TurnReply = answer.isComplete
          ? { type: "complete", text, usage, ...(answer.value !== undefined && { value: answer.value }) }
          : { type: "failed", text, usage, error: answer.error.toJSON() };
        this.#steps.end({ type: "done", reply, ...this.#end() });
      })
      .catch(async (error: unknown) => {
        if (!AgenticError.is(error) || LOST.includes(error.code)) return this.#steps.fail(plain(error));
        this.#ended = true;
        await session.end();
        this.#steps.end({ type: "done", reply: { type: "refused", error: error.toJSON() }, ...this.#end() });
      });
  }

  #end(): { seq: number; stored: string[] } {
    return { seq: this.#seq, stored: [...this.#stored] };
  }

  async #follow(session: AnyAgentSession, show: (item: SessionItem) => void): Promise<void> {
    for await (const item of session.items()) if (!this.#abandoned.signal.aborted) show(item);
  }

  #take(session: AnyAgentSession): void {
    const items = this.#said.splice(0);
    this.#taking = this.#taking.then(async () => {
      for (const item of items) await this.#hear(session, item);
    });
  }

  async #hear(session: AnyAgentSession, item: InboxItem): Promise<void> {
    if (item.type === "approve") {
      // Decided already, or of a call that is over: nothing waits for it then.
      await session.approve(item.approvalId, item.decision).catch(() => undefined);
    } else if (item.type === "abort") {
      this.#steps.interrupt();
      session.abort(item.reason);
    } else if (!this.#stored.has(item.message.id) && !this.#ended) {
      if (item.type === "followUp") return session.followUp(item.message);
      this.#steps.interrupt();
      session.steer(item.message);
    }
  }

  #engine(): SessionEngine {
    const { turnId } = this.#place;
    return {
      effects: (inProcess) => this.#effects(inProcess),
      runsAgain: (open, tools) => open.message.turnId === turnId && runsAgain(open, tools),
      turn: () => {
        this.#turns++;
        return this.#turns === 1
          ? { id: turnId, soFar: throughEnd(this.#soFar) }
          : { id: `${turnId}.${this.#turns}`, soFar: [] };
      },
    };
  }

  #effects(inProcess: LoopEffects): LoopEffects {
    const steps = this.#steps;
    return {
      ...inProcess,
      append: async (records) => {
        if (this.#abandoned.signal.aborted) throw this.#abandoned.signal.reason;
        try {
          await inProcess.append(records);
        } catch (error) {
          steps.fail(plain(error));
          throw error;
        }
        this.#seq += records.length;
        for (const record of records) this.#track(record);
      },
      async *generate(provider, request) {
        await steps.model(request.signal);
        yield* inProcess.generate(provider, request);
      },
      runCalls: (tools, requests, options) => {
        steps.calls(requests.map(({ id, name }) => ({ id, name })));
        const before = async (call: (typeof requests)[number], attempt: number) => {
          if (attempt === 1) await steps.permitted(call.id, options.signal);
          await options.before?.(call, attempt);
        };
        return inProcess.runCalls(tools, requests, { ...options, before });
      },
    };
  }

  #track(record: SessionRecord): void {
    if (record.type === "queued") this.#stored.add(record.message.id);
    this.#steps.take(record);
  }
}

/** A call that has not begun, or that does no harm when it is begun again. */
function runsAgain({ call, attempt }: OpenCall, tools: ToolCallManager): boolean {
  if (attempt === 0) return true;
  const tool = tools.get(call.name);
  return (tools.metadata(call.name) ?? (tool && metadataOf(tool)))?.capabilities.idempotent ?? false;
}

/** Whether the record brings a message into the log. */
function carries(record: SessionRecord, messageId: string): boolean {
  return (record.type === "conversation" || record.type === "queued") && record.message.id === messageId;
}

/** A turn that is repaired has others behind it. */
function throughEnd(records: readonly SessionRecord[]): readonly SessionRecord[] {
  const end = records.findIndex(({ type }) => type === "summary" || type === "failedAction");
  return end < 0 ? records : records.slice(0, end + 1);
}

/** For Restate, which tries again what fails so. */
function plain(error: unknown): Error {
  return error instanceof Error ? new Error(error.message, { cause: error }) : new Error(String(error));
}
