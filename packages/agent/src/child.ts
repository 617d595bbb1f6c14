import { AgenticError, type ChildAgent, type ChildStatus, type SessionRecord } from "@shedkit/types";
import type { PauseGate } from "./loop/pause.js";
import type { AnyAgentSession } from "./session.js";
import type { Turn } from "./turn/turn.js";

/** A session that works on one task for another. It ends by itself when the task is done. */
export class Child implements ChildAgent {
  readonly id: string;
  readonly #session: AnyAgentSession;
  readonly #gate: PauseGate;
  readonly #done: Promise<Turn>;
  readonly #listeners = new Set<() => void>();
  #step = 0;
  #tool: string | undefined;
  #turn: Turn | undefined;

  constructor(session: AnyAgentSession, task: string, maxSteps: number | undefined, gate: PauseGate) {
    this.id = session.sessionId;
    this.#session = session;
    this.#gate = gate;
    this.#done = this.#run(task, maxSteps);
  }

  status(): ChildStatus {
    if (!this.#turn) return this.#gate.closed ? { type: "paused" } : this.#running();
    const { failure, text, usage } = this.#turn;
    return failure ? { type: "failed", error: failure.toJSON(), usage } : { type: "done", summary: text, usage };
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  pause(): void {
    if (this.#turn) return;
    this.#gate.close();
    this.#changed();
  }

  resume(): void {
    this.#gate.open();
    this.#changed();
  }

  async stop(): Promise<void> {
    if (!this.#turn) this.#session.abort("it was stopped");
    await this.#done;
  }

  async result(): Promise<string> {
    const { failure, text } = await this.#done;
    if (failure) throw failure;
    return text;
  }

  /** Never rejects. */
  async ended(): Promise<void> {
    await this.#done;
  }

  async #run(task: string, maxSteps: number | undefined): Promise<Turn> {
    const stream = this.#session.runTurnStream(task, { maxSteps });
    for await (const item of stream) if (item.type === "record") this.#take(item.record);
    const turn = await stream.done();
    // What it worked with is let go of before anybody hears that it is done.
    await this.#session.end().catch(() => undefined);
    this.#turn = turn;
    this.#changed();
    this.#listeners.clear();
    return turn;
  }

  #running(): ChildStatus {
    return { type: "running", step: this.#step, ...(this.#tool !== undefined && { tool: this.#tool }) };
  }

  #take(record: SessionRecord): void {
    if (record.type === "step") this.#step++;
    else if (record.type !== "conversation" || record.message.type !== "assistant") return;
    else if (record.message.output.type !== "toolCall") return;
    else this.#tool = record.message.output.name;
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

export function tooDeep(maxDepth: number): AgenticError {
  const text =
    maxDepth === 0
      ? "This session starts no sub-agents."
      : `A sub-agent at depth ${maxDepth} starts no sub-agents of its own: do the work here.`;
  return new AgenticError("session", text, { reason: "sub-agent depth" });
}

export function tooMany(maxRunning: number): AgenticError {
  return new AgenticError(
    "session",
    `${maxRunning} sub-agents are running already. Wait for one to end, or stop one.`,
    { reason: "too many sub-agents" },
    { retryable: true },
  );
}
