import { AgenticError, type ChildAgent, type ChildStatus } from "@shedkit/types";
import type { PauseGate } from "./pause.js";
import type { AnyAgentSession } from "./session.js";
import type { Turn } from "./turn.js";

/** A session that works on one task for another. It ends by itself when the task is done. */
export class Child implements ChildAgent {
  readonly id: string;
  readonly #session: AnyAgentSession;
  readonly #gate: PauseGate;
  readonly #done: Promise<Turn>;
  #step = 0;
  #turn: Turn | undefined;

  constructor(session: AnyAgentSession, task: string, maxSteps: number | undefined, gate: PauseGate) {
    this.id = session.sessionId;
    this.#session = session;
    this.#gate = gate;
    this.#done = this.#run(task, maxSteps);
  }

  status(): ChildStatus {
    if (!this.#turn) return this.#gate.closed ? { type: "paused" } : { type: "running", step: this.#step };
    const { failure, text } = this.#turn;
    return failure ? { type: "failed", error: failure.toJSON() } : { type: "done", summary: text };
  }

  pause(): void {
    if (!this.#turn) this.#gate.close();
  }

  resume(): void {
    this.#gate.open();
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
    for await (const item of stream) if (item.type === "record" && item.record.type === "step") this.#step++;
    const turn = await stream.done();
    // What it worked with is let go of before anybody hears that it is done.
    await this.#session.end().catch(() => undefined);
    this.#turn = turn;
    return turn;
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
