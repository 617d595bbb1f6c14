import { normalizeTranscript } from "@shedkit/provider/transcript";
import { AgenticError, addUsage, type FinishReason, type Message, Messages, noUsage, type Usage } from "@shedkit/types";
import { keep, withdraw } from "./answer-log.js";
import { closeOpenCalls, executeCalls } from "./execution.js";
import { brokenOff, type Generation, generate } from "./generation.js";
import { Interruption } from "./interruption.js";
import { type Escalation, LoopGuard } from "./loop-guard.js";
import type { AgentLoopState, LoopParts, TurnSpec } from "./loop-state.js";
import { PAST_LIMIT, pastLimit, refusal, SUM_UP, TURN_ENDED } from "./loop-texts.js";
import { type ObservationBody, observing, providerWithin } from "./observer.js";
import { ModelChain, type Recovery } from "./recovery.js";
import { paramsOf, requestOf } from "./request.js";
import type { Sink } from "./stream-item.js";
import { recordedError, type TurnOutcome } from "./turn.js";
import { followUps, isSteered, take, takeAll, takeSteering } from "./turn-queue.js";
import { turnSoFar } from "./turn-so-far.js";

type Running = Exclude<AgentLoopState, { type: "done" }>;
type State<T extends AgentLoopState["type"]> = Extract<AgentLoopState, { type: T }>;

/** One turn as a state machine. Only `effects` reaches outside. */
export class AgentLoop {
  readonly #parts: LoopParts;
  readonly #spec: TurnSpec;
  readonly #sink: Sink;
  readonly #warned = new Set<string>();
  readonly #guard: LoopGuard;
  readonly #models: ModelChain;
  readonly #observe: ((body: ObservationBody) => void) | undefined;
  readonly #interruption = new Interruption();
  #outer = 0;
  #inner = 0;
  #sumUpAsked = false;
  #usage: Usage = noUsage;
  #messageCount = 0;

  constructor(parts: LoopParts, spec: TurnSpec, sink: Sink) {
    this.#parts = parts;
    this.#spec = spec;
    this.#sink = sink;
    this.#observe =
      parts.observer && observing(parts.observer, parts.sessionId, spec.turnId, () => parts.effects.now());
    this.#guard = new LoopGuard(parts.loopDetection, parts.tools, () => this.#models.hasNext);
    this.#models = new ModelChain(spec.models, {
      policy: parts.errorPolicy,
      threshold: parts.config.circuitBreakerThreshold,
      switched: spec.ownModel ? undefined : parts.log.state.switched,
      now: parts.effects.now(),
    });
  }

  /** Ends the turn: what runs is cancelled at once. */
  abort(reason: string): void {
    this.#interruption.abort(reason);
  }

  /** Ends the turn because the session ends: calls that wait for leave go on waiting, in the log. */
  suspend(): void {
    this.#interruption.sessionEnds = true;
    this.abort("the session ends");
  }

  /** Something waits in the steering queue: what runs is cancelled, and the model is asked again. */
  steer(): void {
    this.#interruption.steer();
  }

  /** Runs the turn to its end. Never throws. */
  async run(): Promise<TurnOutcome> {
    const stopCounting = this.#parts.log.listen((record) => {
      if (record.type === "conversation") this.#messageCount++;
    });
    this.#observe?.({ type: "turnStarted", metadata: this.#spec.metadata });
    let state: AgentLoopState = { type: "begin" };
    try {
      while (state.type !== "done") {
        try {
          state = await this.#next(state);
        } catch (error) {
          state = this.#thrown(error, state as Running);
        }
      }
    } finally {
      stopCounting();
    }
    const { outcome } = state;
    const error = outcome.type === "failed" ? outcome.error : undefined;
    this.#observe?.({ type: "turnEnded", usage: this.#usage, error });
    return outcome;
  }

  /** What was thrown on the way from a state to the next ends the turn, or gives way to steering. */
  #thrown(error: unknown, state: Running): AgentLoopState {
    const failure = AgenticError.from(error);
    // A log that cannot be written any more cannot record its own failure either.
    if (state.type === "ending") return { type: "done", outcome: { type: "failed", error: state.error ?? failure } };
    const steered = this.#interruption.steered && !this.#interruption.aborted && AgenticError.is(error, "cancelled");
    if (steered && state.type !== "begin") return { type: "assemble" };
    return { type: "ending", error: this.#interruption.aborted ?? failure };
  }

  /** One state to the next. */
  #next(state: Running): Promise<AgentLoopState> {
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
      case "recover":
        return this.#recover(state);
      case "execute":
        return this.#execute();
      case "outputProcessing":
        return this.#outputProcessing();
      case "ending":
        return this.#end(state);
    }
  }

  /** Takes all that waits, and the prompt; or goes on with calls that waited for leave, the prompt behind them. */
  async #begin(): Promise<AgentLoopState> {
    const { log, spending, memory } = this.#parts;
    const { prompt } = this.#spec;
    await log.flush(); // what was queued just now is in the state then
    const begun = turnSoFar(this.#spec.soFar ?? []);
    if (begun.ended) return { type: "done", outcome: begun.ended };
    if (this.#interruption.aborted) return { type: "ending", error: this.#interruption.aborted };
    this.#sink({ type: "progress", progress: { type: "initializing", step: "turn" } });
    await spending.refresh();
    memory.check(this.#sink); // what a program that stopped has left to do
    this.#outer = begun.taken + 1;
    this.#inner = log.state.openCalls.size > 0 ? Math.max(0, begun.inner - 1) : begun.inner; // running them counts
    this.#sumUpAsked = begun.sumUpAsked;
    this.#usage = begun.usage;
    this.#messageCount += begun.messageCount;
    if (begun.messageCount > 0 && !log.state.suspended) {
      const { replay } = await import("./loop-replay.js");
      const circling = await replay(this.#guard, this.#spec.soFar ?? []);
      if (circling) return this.#escalate(circling);
      if (log.state.openCalls.size > 0) return { type: "execute" };
      return { type: begun.answered ? "outputProcessing" : "assemble" };
    }
    if (log.state.suspended) {
      if (prompt && !this.#spec.soFar?.length) await log.append({ type: "queued", queue: "followUp", message: prompt });
      for (const { record, decision } of log.state.approvals.values()) {
        if (!decision) this.#sink({ type: "record", record });
      }
      return { type: "execute" };
    }
    await takeAll(log, prompt);
    return { type: "assemble" };
  }

  /** Takes the next message to work on: one follow-up at a time. */
  async #outerBoundary(): Promise<AgentLoopState> {
    const { log, config } = this.#parts;
    await log.flush();
    if (this.#interruption.aborted) return { type: "ending", error: this.#interruption.aborted };
    if (!isSteered(log)) {
      const [next, ...others] = followUps(log);
      if (!next) return { type: "ending" };
      const { maxOuterIterations: limit } = config;
      if (this.#outer >= limit) {
        this.#sink({ type: "progress", progress: { type: "outerLimit", limit, waiting: others.length + 1 } });
        return { type: "ending" };
      }
      await take(log, next);
    }
    this.#outer++;
    this.#inner = 0;
    this.#sumUpAsked = false;
    this.#guard.reset();
    return { type: "assemble" };
  }

  async #assemble(): Promise<AgentLoopState> {
    const { log, context, spending } = this.#parts;
    this.#interruption.renew();
    if (log.pending > 0) await log.flush();
    if (isSteered(log)) {
      await takeSteering(log);
      this.#sink({ type: "progress", progress: { type: "steering", source: "steer" } });
      this.#guard.reset();
    }
    if (this.#interruption.aborted) return { type: "ending", error: this.#interruption.aborted };
    const sumUp = this.#inner >= this.#spec.maxSteps;
    if (sumUp && !this.#sumUpAsked) {
      this.#sumUpAsked = true;
      await log.append({ type: "conversation", message: Messages.agent(SUM_UP) });
    }
    const signal = this.#interruption.signal;
    const found = this.#parts.resolve(this.#models.current, signal);
    const route = found instanceof Promise ? await found : found;
    if (spending.limited) await spending.checkModel(route.model.name);
    const preparing = context.prepare(route, this.#sink, signal);
    if (preparing) await preparing;
    const params = paramsOf(this.#parts, this.#spec, this.#guard.temperature);
    if (spending.limited) await spending.checkRequest(log.state.contextTokens + (params.maxTokens ?? 0));
    const request = requestOf(this.#parts, this.#spec, { model: route.model, params, sumUp, signal });
    return { type: "generate", route, request };
  }

  async #generate({ route, request }: State<"generate">): Promise<AgentLoopState> {
    const { effects, log } = this.#parts;
    const { provider } = route;
    this.#sink({ type: "progress", progress: { type: "generating", model: request.model.name } });
    const stepId = effects.newId();
    const takenIds = log.state.callIds;
    this.#observe?.({ type: "modelCallStarted", stepId, provider: provider.id, request });
    const watched = providerWithin(this.#parts.observer, this.#spec.turnId, stepId, provider);
    const options = { effects, request, stepId, takenIds, sink: this.#sink, warned: this.#warned };
    const generation = await generate({ ...options, provider: watched });
    const { outputs, usage, end } = generation;
    this.#usage = addUsage(this.#usage, usage);
    this.#observe?.({ type: "modelCallEnded", stepId, outputs, usage, ...outcomeOf(end) });
    return { type: "record", route, generation };
  }

  /** Stores what came of a model call and decides what follows. */
  async #record({ route, generation }: State<"record">): Promise<AgentLoopState> {
    const { outputs, end } = generation;
    const model = route.model.name;
    const broken = end.type === "failure" || end.reason === "aborted";
    if (broken && this.#interruption.steered && !this.#interruption.aborted) {
      await withdraw(this.#parts, this.#spec.turnId, route, generation, "A steering message came.");
      return { type: "assemble" };
    }
    if (broken && !this.#interruption.aborted) {
      const error = end.type === "failure" ? end.error : brokenOff(route.provider.id, model);
      return { type: "recover", route, generation, error };
    }
    const rejected = !broken && end.reason === "stop" ? this.#guard.rejects(outputs, this.#question()) : undefined;
    if (rejected) {
      await withdraw(this.#parts, this.#spec.turnId, route, generation, rejected.reason);
      await this.#parts.log.append({ type: "conversation", message: Messages.agent(rejected.text) });
      return { type: "assemble" };
    }
    await keep(this.#parts, this.#spec.turnId, route, generation);
    if (this.#interruption.aborted) return { type: "ending", error: this.#interruption.aborted };
    this.#parts.context.answered(route);
    const back = this.#models.succeeded();
    if (back) await this.#switch(back);
    if (end.type === "finish" && (end.reason === "refusal" || end.reason === "contentFilter")) {
      return { type: "ending", error: refusal(outputs, route.provider.id, model) };
    }
    if (this.#parts.log.state.openCalls.size === 0) {
      const paused = end.type === "finish" && end.reason === "pause" && this.#inner++ < this.#spec.maxSteps;
      return { type: paused ? "assemble" : "outputProcessing" };
    }
    const looking = this.#guard.beforeCalls(outputs);
    const loop = looking instanceof Promise ? await looking : looking;
    return loop ? this.#escalate(loop) : { type: "execute" };
  }

  /** After a failure: again, with another model, with less, or not at all. */
  async #recover({ route, generation, error }: State<"recover">): Promise<AgentLoopState> {
    const { effects, context } = this.#parts;
    const recovery = this.#models.failed(error);
    if (recovery.type === "giveUp") {
      const { error: reason = error } = recovery;
      const retracted = generation.end.type === "failure" && generation.end.retracted;
      if (retracted) await withdraw(this.#parts, this.#spec.turnId, route, generation, error.message);
      else await keep(this.#parts, this.#spec.turnId, route, generation);
      return { type: "ending", error: reason };
    }
    await withdraw(this.#parts, this.#spec.turnId, route, generation, error.message);
    const signal = this.#interruption.signal;
    if (recovery.type === "again") await effects.sleep(recovery.waitMs, signal);
    else if (recovery.type === "switch") await this.#switch(recovery);
    else if (recovery.type === "reduce") {
      context.answered(route); // that it is too much is an answer too
      await context.reduce(route, this.#sink, signal);
    }
    return { type: "assemble" };
  }

  async #execute(): Promise<AgentLoopState> {
    const { effects, log, tools, config, permissions, memory } = this.#parts;
    const { turnId, maxSteps } = this.#spec;
    if (this.#inner++ >= maxSteps) {
      await closeOpenCalls(log, effects, "skipped", () => PAST_LIMIT);
      return { type: "ending", error: pastLimit(maxSteps) };
    }
    const calls = [...log.state.openCalls.values()];
    await executeCalls({
      effects,
      log,
      tools,
      turnId,
      permissions,
      concurrency: config.toolConcurrency,
      signal: this.#interruption.signal,
      sink: this.#sink,
      suspending: () => this.#suspending,
      observe: this.#observe,
      observer: this.#parts.observer,
    });
    if (this.#interruption.aborted) return { type: "ending", error: this.#interruption.aborted };
    memory.check(this.#sink);
    const loop = this.#interruption.steered ? undefined : this.#guard.afterCalls(calls);
    return loop ? this.#escalate(loop) : { type: "assemble" };
  }

  async #outputProcessing(): Promise<AgentLoopState> {
    this.#parts.memory.check(this.#sink);
    return { type: "outerBoundary" };
  }

  async #end({ error }: State<"ending">): Promise<AgentLoopState> {
    const { log, effects } = this.#parts;
    const { turnId } = this.#spec;
    const usage = this.#usage;
    if (error) {
      if (!this.#suspending) {
        await closeOpenCalls(log, effects, "interrupted", () => TURN_ENDED);
        log.state.messages = normalizeTranscript(log.state.messages);
      }
      await log.append({ type: "failedAction", turnId, error: recordedError(error) });
      return { type: "done", outcome: { type: "failed", error } };
    }
    this.#sink({ type: "progress", progress: { type: "turnComplete", usage } });
    await log.append({ type: "summary", turnId, messageCount: this.#messageCount, usage });
    return { type: "done", outcome: { type: "completed" } };
  }

  /** The model goes round in circles: it is told, in the results of calls that do not run or in a message. */
  async #escalate(loop: Escalation): Promise<AgentLoopState> {
    const { log, effects } = this.#parts;
    if (loop.type === "terminate") return { type: "ending", error: loop.error };
    if (log.state.openCalls.size > 0) {
      await closeOpenCalls(log, effects, "skipped", () => `The call was not run. ${loop.text}`);
      this.#inner++;
    } else await log.append({ type: "conversation", message: Messages.agent(loop.text) });
    const next = loop.type === "change" ? this.#models.next("The model went round in circles.") : undefined;
    if (next) await this.#switch(next);
    return { type: "assemble" };
  }

  async #switch({ from, to, reason }: Extract<Recovery, { type: "switch" }>): Promise<void> {
    await this.#parts.log.append({ type: "modelSwitched", from, to, reason });
  }

  /** What an answer can be judged against; nothing where it must be JSON. */
  #question(): readonly Message[] {
    return this.#spec.output === undefined ? this.#parts.log.state.messages : [];
  }

  get #suspending(): boolean {
    return this.#interruption.sessionEnds && this.#parts.log.state.suspended;
  }
}

function outcomeOf(end: Generation["end"]): { finish: FinishReason } | { error: AgenticError } {
  return end.type === "finish" ? { finish: end.reason } : { error: end.error };
}
