import type { ModelParams, ModelProvider, ModelRequest, Route } from "@shedkit/provider";
import { normalizeTranscript } from "@shedkit/provider/transcript";
import type { ToolCallManager } from "@shedkit/shed";
import {
  AgenticError,
  addUsage,
  type JsonSchema,
  type Message,
  Messages,
  type ModelIdLike,
  noUsage,
  type SessionId,
  type SessionRecordBody,
  type Usage,
} from "@shedkit/types";
import type { Spending } from "./access.js";
import type { AgentConfig } from "./config.js";
import type { LoopEffects } from "./effects.js";
import { closeOpenCalls, executeCalls } from "./execution.js";
import { brokenOff, type Generation, generate } from "./generation.js";
import type { SessionLog } from "./log.js";
import type { Permissions } from "./permissions.js";
import type { Sink } from "./stream-item.js";
import type { TurnOutcome } from "./turn.js";

/** What the loop works with; a session's parts, shared by its turns. */
export interface LoopParts {
  sessionId: SessionId;
  effects: LoopEffects;
  log: SessionLog;
  tools: ToolCallManager;
  config: AgentConfig;
  system: string | undefined;
  permissions: Permissions;
  spending: Spending;
  /** Finds the backend of a model; makes it ready first, where that is still to be done. */
  resolve(model: ModelIdLike, signal: AbortSignal): Promise<Route>;
}

/** What is asked of one turn. */
export interface TurnSpec {
  turnId: string;
  /** Absent for a turn that only goes on with calls that waited for leave. */
  prompt: Message | undefined;
  model: ModelIdLike;
  params: ModelParams;
  maxSteps: number;
  /** The answer must be JSON of this schema. */
  output?: JsonSchema | undefined;
}

/** Where a turn stands. Each state does its work and names the next. */
export type LoopState =
  | { type: "begin" }
  | { type: "outerBoundary" }
  | { type: "assemble" }
  | { type: "generate"; provider: ModelProvider; request: ModelRequest }
  | { type: "record"; provider: ModelProvider; request: ModelRequest; generation: Generation }
  | { type: "execute" }
  | { type: "outputProcessing" }
  | { type: "ending"; error?: AgenticError | undefined }
  | { type: "done"; outcome: TurnOutcome };

const SUM_UP =
  "You have used all the tool calls of this turn. Do not call any more tools: answer now with what you have found, and say what is missing.";

const PAST_LIMIT = "The call was not run: the turn has used all its tool calls.";
const TURN_ENDED = "The call was interrupted: the turn ended before its result.";

/** One turn as a state machine. Only `effects` reaches outside. */
export class AgentLoop {
  readonly #parts: LoopParts;
  readonly #spec: TurnSpec;
  readonly #sink: Sink;
  /** Aborts what is running now: a model call, the tools of a step. */
  #running = new AbortController();
  #aborted: AgenticError | undefined;
  #ending = false;
  #steered = false;
  #outer = 0;
  #inner = 0;
  #sumUpAsked = false;
  #usage: Usage = noUsage;
  #messageCount = 0;

  constructor(parts: LoopParts, spec: TurnSpec, sink: Sink) {
    this.#parts = parts;
    this.#spec = spec;
    this.#sink = sink;
  }

  /** Ends the turn: what runs is cancelled at once. */
  abort(reason: string): void {
    if (this.#aborted) return;
    this.#aborted = new AgenticError("cancelled", `The turn was aborted: ${reason}`, { reason });
    this.#running.abort(this.#aborted);
  }

  /** Ends the turn because the session ends: calls that wait for leave go on waiting, in the log. */
  suspend(): void {
    this.#ending = true;
    this.abort("the session ends");
  }

  /** Something waits in the steering queue: what runs is cancelled, and the model is asked again. */
  steer(): void {
    this.#steered = true;
    this.#running.abort(new AgenticError("cancelled", "A steering message came.", { reason: "steered" }));
  }

  /** Runs the turn to its end. Never throws. */
  async run(): Promise<TurnOutcome> {
    const stopCounting = this.#parts.log.listen((record) => {
      if (record.type === "conversation") this.#messageCount++;
    });
    let state: LoopState = { type: "begin" };
    try {
      while (state.type !== "done") {
        try {
          state = await this.#next(state);
        } catch (error) {
          const failure = AgenticError.from(error);
          // A log that cannot be written any more cannot record its own failure either.
          state =
            state.type === "ending"
              ? { type: "done", outcome: { type: "failed", error: state.error ?? failure } }
              : { type: "ending", error: this.#aborted ?? failure };
        }
      }
    } finally {
      stopCounting();
    }
    return state.outcome;
  }

  #next(state: Exclude<LoopState, { type: "done" }>): Promise<LoopState> {
    switch (state.type) {
      case "begin":
        return this.#begin();
      case "outerBoundary":
        return this.#outerBoundary();
      case "assemble":
        return this.#assemble();
      case "generate":
        return this.#generate(state);
      case "record":
        return this.#record(state);
      case "execute":
        return this.#execute();
      case "outputProcessing":
        return this.#outputProcessing();
      case "ending":
        return this.#end(state);
    }
  }

  /** Takes all that waits, and the prompt; or goes on with calls that waited for leave, the prompt behind them. */
  async #begin(): Promise<LoopState> {
    const { log, spending } = this.#parts;
    const { prompt } = this.#spec;
    await log.flush(); // what was queued just now is in the state then
    if (this.#aborted) return { type: "ending", error: this.#aborted };
    this.#sink({ type: "progress", progress: { type: "initializing", step: "turn" } });
    await spending.refresh();
    this.#outer++;
    if (log.state.suspended) {
      if (prompt) await log.append({ type: "queued", queue: "followUp", message: prompt });
      for (const { record, decision } of log.state.approvals.values()) {
        if (!decision) this.#sink({ type: "record", record });
      }
      return { type: "execute" };
    }
    const { queue } = log.state;
    const waiting = [...queue.filter((q) => q.queue === "steer"), ...queue.filter((q) => q.queue === "followUp")];
    const bodies = waiting.flatMap(({ message }) => takenRecords(message));
    if (prompt) bodies.push({ type: "conversation", message: prompt });
    if (bodies.length > 0) await log.append(...bodies);
    return { type: "assemble" };
  }

  /** Takes the next message to work on: one follow-up at a time. */
  async #outerBoundary(): Promise<LoopState> {
    const { log, config } = this.#parts;
    await log.flush();
    if (this.#aborted) return { type: "ending", error: this.#aborted };
    const { queue } = log.state;
    const steered = queue.some((q) => q.queue === "steer");
    const next = steered ? undefined : queue.find((q) => q.queue === "followUp");
    if (!steered && (!next || this.#outer >= config.maxOuterIterations)) return { type: "ending" };
    if (next) await log.append(...takenRecords(next.message));
    this.#outer++;
    this.#inner = 0;
    this.#sumUpAsked = false;
    return { type: "assemble" };
  }

  async #assemble(): Promise<LoopState> {
    const { log, tools, system, sessionId, config, spending } = this.#parts;
    if (this.#running.signal.aborted && !this.#aborted) this.#running = new AbortController();
    this.#steered = false;
    await log.flush();
    const steering = log.state.queue.filter((q) => q.queue === "steer");
    if (steering.length > 0) {
      await log.append(...steering.flatMap(({ message }) => takenRecords(message)));
      this.#sink({ type: "progress", progress: { type: "steering", source: "steer" } });
    }
    if (this.#aborted) return { type: "ending", error: this.#aborted };
    const sumUp = this.#inner >= this.#spec.maxSteps;
    if (sumUp && !this.#sumUpAsked) {
      this.#sumUpAsked = true;
      await log.append({ type: "conversation", message: Messages.agent(SUM_UP) });
    }
    const signal = this.#running.signal;
    const route = await this.#resolve(signal);
    if (!route) return { type: "assemble" };
    const { provider, model } = route;
    const params = { ...config.modelParams, ...this.#spec.params };
    await spending.checkModel(model.name);
    await spending.checkRequest(log.state.contextTokens + (params.maxTokens ?? 0));
    const left = spending.remaining;
    if (left !== undefined) params.maxTokens = Math.min(left, params.maxTokens ?? left);
    const request: ModelRequest = {
      model,
      messages: log.state.messages,
      tools: sumUp ? { tools: [], activations: [] } : tools.offeredTools(),
      params,
      sessionId,
      signal,
    };
    if (system !== undefined) request.system = system;
    if (this.#spec.output !== undefined) request.output = this.#spec.output;
    return { type: "generate", provider, request };
  }

  /** The backend; nothing when a steering message came while it was being loaded. */
  async #resolve(signal: AbortSignal): Promise<Route | undefined> {
    try {
      return await this.#parts.resolve(this.#spec.model, signal);
    } catch (error) {
      if (this.#steered && !this.#aborted) return undefined;
      throw error;
    }
  }

  async #generate({ provider, request }: Extract<LoopState, { type: "generate" }>): Promise<LoopState> {
    const { effects, log } = this.#parts;
    this.#sink({ type: "progress", progress: { type: "generating", model: request.model.name } });
    const stepId = effects.newId();
    const takenIds = log.state.callIds;
    const generation = await generate({ effects, provider, request, stepId, takenIds, sink: this.#sink });
    this.#usage = addUsage(this.#usage, generation.usage);
    return { type: "record", provider, request, generation };
  }

  /** Stores what came of a model call and decides what follows. */
  async #record({ provider, request, generation }: Extract<LoopState, { type: "record" }>): Promise<LoopState> {
    const { log, effects, spending } = this.#parts;
    const { stepId, outputs, usage, end } = generation;
    const turnId = this.#spec.turnId;
    const model = request.model.name;
    const broken = end.type === "failure" || end.reason === "aborted";
    const finish = end.type === "finish" ? end.reason : "aborted";
    const step: SessionRecordBody = { type: "step", turnId, stepId, model, finish, usage };
    if (broken && this.#steered && !this.#aborted) {
      await log.append({ type: "retracted", reason: "A steering message came.", messageIds: [] }, step);
      await spending.record(usage);
      return { type: "assemble" };
    }
    const retracted = end.type === "failure" && end.retracted;
    const bodies = (retracted ? [] : outputs).map(
      (output): SessionRecordBody => ({
        type: "conversation",
        message: { type: "assistant", id: effects.newId(), turnId, stepId, model, output },
      }),
    );
    if (retracted && generation.shown) {
      bodies.push({ type: "retracted", reason: end.error.message, messageIds: [] });
    }
    await log.append(...bodies, step);
    await spending.record(usage);
    if (this.#aborted) return { type: "ending", error: this.#aborted };
    if (end.type === "failure") return { type: "ending", error: end.error };
    if (end.reason === "aborted") return { type: "ending", error: brokenOff(provider.id, model) };
    if (end.reason === "refusal") return { type: "ending", error: refusal(outputs, provider.id, model) };
    return log.state.openCalls.size > 0 ? { type: "execute" } : { type: "outputProcessing" };
  }

  async #execute(): Promise<LoopState> {
    const { effects, log, tools, config, permissions } = this.#parts;
    const last = this.#inner >= this.#spec.maxSteps;
    this.#inner++;
    if (last) {
      await closeOpenCalls(log, effects, "skipped", () => PAST_LIMIT);
      const error = new AgenticError(
        "session",
        `The model went on calling tools past the limit of ${this.#spec.maxSteps} rounds. Ask again to continue, or raise maxInnerIterations.`,
        { reason: "inner limit" },
      );
      return { type: "ending", error };
    }
    await executeCalls({
      effects,
      log,
      tools,
      turnId: this.#spec.turnId,
      concurrency: config.toolConcurrency,
      signal: this.#running.signal,
      sink: this.#sink,
      permissions,
      suspending: () => this.#suspending,
    });
    if (this.#aborted) return { type: "ending", error: this.#aborted };
    return { type: "assemble" };
  }

  get #suspending(): boolean {
    return this.#ending && this.#parts.log.state.suspended;
  }

  async #outputProcessing(): Promise<LoopState> {
    return { type: "outerBoundary" };
  }

  async #end({ error }: Extract<LoopState, { type: "ending" }>): Promise<LoopState> {
    const { log, effects } = this.#parts;
    const { turnId } = this.#spec;
    const usage = this.#usage;
    if (error) {
      if (!this.#suspending) {
        await closeOpenCalls(log, effects, "interrupted", () => TURN_ENDED);
        log.state.messages = normalizeTranscript(log.state.messages);
      }
      await log.append({ type: "failedAction", turnId, error: error.toJSON() });
      return { type: "done", outcome: { type: "failed", error } };
    }
    this.#sink({ type: "progress", progress: { type: "turnComplete", usage } });
    await log.append({ type: "summary", turnId, messageCount: this.#messageCount, usage });
    return { type: "done", outcome: { type: "completed" } };
  }
}

/** A queued message becomes part of the conversation. */
function takenRecords(message: Message): SessionRecordBody[] {
  return [
    { type: "dequeued", messageId: message.id },
    { type: "conversation", message },
  ];
}

function refusal(outputs: Generation["outputs"], provider: string, model: string): AgenticError {
  const text = outputs.flatMap((output) => (output.type === "refusal" ? [output.text] : [])).join("");
  return new AgenticError("generation", text || `The model "${model}" refused to answer.`, {
    kind: "refusal",
    provider,
    model,
  });
}
