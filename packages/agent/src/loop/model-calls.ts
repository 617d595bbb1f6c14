import { type AgenticError, addUsage, type FinishReason, type Message, Messages } from "@shedkit/types";
import { providerWithin } from "../observer.js";
import { keep, withdraw } from "./answer-log.js";
import { escalate, switchModel } from "./escalation.js";
import { brokenOff, type Generation, generate } from "./generation.js";
import { isSteered, takeSteering } from "./queue.js";
import { paramsOf, requestOf } from "./request.js";
import type { LoopRun } from "./run.js";
import type { AgentLoopState, StateOf } from "./state.js";
import { refusal, SUM_UP } from "./texts.js";

// The states in which a model is asked, and what follows from its answer or failure.

export async function assemble(run: LoopRun): Promise<AgentLoopState> {
  const { log, context, spending } = run.parts;
  run.interruption.renew();
  if (log.pending > 0) await log.flush();
  if (isSteered(log)) {
    await takeSteering(log);
    run.sink({ type: "progress", progress: { type: "steering", source: "steer" } });
    run.guard.reset();
  }
  if (run.interruption.aborted) return { type: "ending", error: run.interruption.aborted };
  const sumUp = run.inner >= run.spec.maxSteps;
  if (sumUp && !run.sumUpAsked) {
    run.sumUpAsked = true;
    await log.append({ type: "conversation", message: Messages.agent(SUM_UP) });
  }
  const signal = run.interruption.signal;
  const found = run.parts.resolve(run.models.current, signal);
  const route = found instanceof Promise ? await found : found;
  if (spending.limited) await spending.checkModel(route.model.name);
  const preparing = context.prepare(route, run.sink, signal);
  if (preparing) await preparing;
  const params = paramsOf(run.parts, run.spec, run.guard.temperature);
  if (spending.limited) await spending.checkRequest(log.state.contextTokens + (params.maxTokens ?? 0));
  const request = requestOf(run.parts, run.spec, { model: route.model, params, sumUp, signal });
  return { type: "generate", route, request };
}

export async function generateAnswer(run: LoopRun, { route, request }: StateOf<"generate">): Promise<AgentLoopState> {
  const { effects, log } = run.parts;
  const { provider } = route;
  run.sink({ type: "progress", progress: { type: "generating", model: request.model.name } });
  const stepId = effects.newId();
  const takenIds = log.state.callIds;
  run.observe?.({ type: "modelCallStarted", stepId, provider: provider.id, request });
  const watched = providerWithin(run.parts.observer, run.spec.turnId, stepId, provider);
  const options = { effects, request, stepId, takenIds, sink: run.sink, warned: run.warned };
  const generation = await generate({ ...options, provider: watched });
  const { outputs, usage, end } = generation;
  run.usage = addUsage(run.usage, usage);
  run.observe?.({ type: "modelCallEnded", stepId, outputs, usage, ...outcomeOf(end) });
  return { type: "record", route, generation };
}

/** Stores what came of a model call and decides what follows. */
export async function recordAnswer(run: LoopRun, { route, generation }: StateOf<"record">): Promise<AgentLoopState> {
  const { outputs, end } = generation;
  const model = route.model.name;
  const broken = end.type === "failure" || end.reason === "aborted";
  if (broken && run.interruption.steered && !run.interruption.aborted) {
    await withdraw(run.parts, run.spec.turnId, route, generation, "A steering message came.");
    return { type: "assemble" };
  }
  if (broken && !run.interruption.aborted) {
    const error = end.type === "failure" ? end.error : brokenOff(route.provider.id, model);
    return { type: "recover", route, generation, error };
  }
  const rejected = !broken && end.reason === "stop" ? run.guard.rejects(outputs, question(run)) : undefined;
  if (rejected) {
    await withdraw(run.parts, run.spec.turnId, route, generation, rejected.reason);
    await run.parts.log.append({ type: "conversation", message: Messages.agent(rejected.text) });
    return { type: "assemble" };
  }
  await keep(run.parts, run.spec.turnId, route, generation);
  if (run.interruption.aborted) return { type: "ending", error: run.interruption.aborted };
  run.parts.context.answered(route);
  const back = run.models.succeeded();
  if (back) await switchModel(run, back);
  if (end.type === "finish" && (end.reason === "refusal" || end.reason === "contentFilter")) {
    return { type: "ending", error: refusal(outputs, route.provider.id, model) };
  }
  if (run.parts.log.state.openCalls.size === 0) {
    const paused = end.type === "finish" && end.reason === "pause" && run.inner++ < run.spec.maxSteps;
    return { type: paused ? "assemble" : "outputProcessing" };
  }
  const looking = run.guard.beforeCalls(outputs);
  const circle = looking instanceof Promise ? await looking : looking;
  return circle ? escalate(run, circle) : { type: "execute" };
}

/** After a failure: again, with another model, with less, or not at all. */
export async function recover(run: LoopRun, { route, generation, error }: StateOf<"recover">): Promise<AgentLoopState> {
  const { effects, context } = run.parts;
  const recovery = run.models.failed(error);
  if (recovery.type === "giveUp") {
    const { error: reason = error } = recovery;
    const retracted = generation.end.type === "failure" && generation.end.retracted;
    if (retracted) await withdraw(run.parts, run.spec.turnId, route, generation, error.message);
    else await keep(run.parts, run.spec.turnId, route, generation);
    return { type: "ending", error: reason };
  }
  await withdraw(run.parts, run.spec.turnId, route, generation, error.message);
  const signal = run.interruption.signal;
  if (recovery.type === "again") await effects.sleep(recovery.waitMs, signal);
  else if (recovery.type === "switch") await switchModel(run, recovery);
  else if (recovery.type === "reduce") {
    context.answered(route); // that it is too much is an answer too
    await context.reduce(route, run.sink, signal);
  }
  return { type: "assemble" };
}

/** What an answer can be judged against; nothing where it must be JSON. */
function question({ spec, parts }: LoopRun): readonly Message[] {
  return spec.output === undefined ? parts.log.state.messages : [];
}

function outcomeOf(end: Generation["end"]): { finish: FinishReason } | { error: AgenticError } {
  return end.type === "finish" ? { finish: end.reason } : { error: end.error };
}
