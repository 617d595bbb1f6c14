import type { ActivationChange, ToolCallManager, ToolCallOutcome, ToolCallRequest } from "@shedkit/shed";
import { ToolError } from "@shedkit/tool";
import type { ContentPart, SessionRecordBody, ToolResultMessage } from "@shedkit/types";
import { drain } from "../abortable.js";
import type { SessionLog } from "../log/log.js";
import type { OpenCall } from "../log/session-state.js";
import type { ObservationBody, SessionObserver } from "../observer.js";
import type { Permissions } from "../permissions.js";
import type { Sink } from "../turn/stream-item.js";
import { GRACE_MS, type LoopEffects } from "./effects.js";

export interface ExecutionParts {
  effects: LoopEffects;
  log: SessionLog;
  tools: ToolCallManager;
  turnId: string;
  concurrency: number;
  signal: AbortSignal;
  sink: Sink;
  permissions: Permissions;
  /** Whether the session ends while calls wait for leave: what has not started then is left as it is. */
  suspending(): boolean;
  observe: ((body: ObservationBody) => void) | undefined;
  observer: SessionObserver | undefined;
}

type FinishOutcome = Extract<SessionRecordBody, { type: "toolFinished" }>["outcome"];

/** Runs the open calls of a step. Each start and each result is in the log before anything follows from it. */
export async function executeCalls(parts: ExecutionParts): Promise<void> {
  const { effects, log, sink, signal, observer } = parts;
  const open = requestsOf(log.state.openCalls);
  const total = open.length;
  let completed = 0;
  // Calls that outlive their turn must not write into the next one.
  let over = false;
  const activations: SessionRecordBody[] = [];
  const stopListening = parts.tools.onActivation((change) => activations.push(recordOf(change)));
  sink({ type: "progress", progress: { type: "executingTools", total, completed } });
  try {
    const outcomes = effects.runCalls(parts.tools, open, {
      signal,
      turnId: parts.turnId,
      concurrency: parts.concurrency,
      offeredOnly: true,
      before: (request, attempt) => {
        if (signal.aborted) throw new ToolError("cancelled", request.name, "The call was cancelled before it ran.");
        const asking = attempt === 1 ? parts.permissions.check(request, signal) : undefined;
        return asking ? asking.then(() => started(parts, request, attempt)) : started(parts, request, attempt);
      },
      beforeInner: (request, outer, ended) => parts.permissions.check(request, ended, outer),
      around: observer?.within && ((request, run) => within(parts, request, run)),
      progress: (request, { text, data }) => {
        if (over) return;
        sink({
          type: "toolProgress",
          toolCallId: request.id,
          ...(text !== undefined && { text }),
          ...(data !== undefined && { data }),
        });
      },
      after: async (outcome) => {
        if (over || (outcome.attempts === 0 && parts.suspending())) return;
        const ended = finishOf(outcome);
        if (outcome.attempts > 0 && parts.observe) {
          const { request, content, errorDetail } = outcome;
          const { id: toolCallId, name } = request;
          parts.observe({ type: "toolCallEnded", toolCallId, name, outcome: ended, content, errorDetail });
        }
        const bodies = activations.splice(0);
        // What tools remember now and did not before stands before the result that tells of it.
        for (const change of parts.tools.states?.takeChanges() ?? []) bodies.push({ type: "toolState", ...change });
        addResult(bodies, parts, outcome, ended);
        await log.append(...bodies);
        completed++;
        if (ended === "cancelled") {
          sink({ type: "progress", progress: { type: "toolCallCancelled", id: outcome.request.id } });
        }
        sink({ type: "progress", progress: { type: "executingTools", total, completed } });
      },
    });
    await drain(outcomes, signal, GRACE_MS, () => "more");
  } finally {
    over = true;
    stopListening();
  }
  if (activations.length > 0) await log.append(...activations);
  if (log.state.openCalls.size > 0 && !parts.suspending()) {
    await closeOpenCalls(log, effects, "cancelled", () => "The call was cancelled before it came to a result.");
  }
}

/** Stores that a call starts, and tells of it. */
function started(parts: ExecutionParts, request: ToolCallRequest, attempt: number): Promise<void> {
  const { id: toolCallId, name, arguments: args } = request;
  const stored = parts.log.append({ type: "toolStarted", toolCallId, attempt });
  const { observe } = parts;
  if (!observe) return stored;
  return stored.then(() => observe({ type: "toolCallStarted", toolCallId, name, arguments: args, attempt }));
}

function within<T>({ observer, turnId }: ExecutionParts, { id }: ToolCallRequest, run: () => T): T {
  return observer?.within?.({ turnId, id }, run) ?? run();
}

/** Gives every call that has no result one that says why, so that the conversation is valid. */
export async function closeOpenCalls(
  log: SessionLog,
  effects: Pick<LoopEffects, "newId">,
  outcome: FinishOutcome,
  why: (open: OpenCall) => string,
  calls: Iterable<OpenCall> = log.state.openCalls.values(),
): Promise<void> {
  const bodies: SessionRecordBody[] = [];
  for (const open of calls) {
    if (open.result) continue;
    const content: ContentPart[] = [{ type: "text", text: why(open) }];
    bodies.push(
      { type: "conversation", message: resultMessage(open, effects.newId(), content, outcome) },
      { type: "toolFinished", toolCallId: open.call.id, attempt: open.attempt, outcome },
    );
  }
  if (bodies.length > 0) await log.append(...bodies);
}

function addResult(
  bodies: SessionRecordBody[],
  { effects, log }: ExecutionParts,
  { request, content, errorDetail, attempts: attempt }: ToolCallOutcome,
  outcome: FinishOutcome,
): void {
  const open = log.state.openCalls.get(request.id);
  if (!open) return;
  bodies.push(
    { type: "conversation", message: resultMessage(open, effects.newId(), content, errorDetail) },
    { type: "toolFinished", toolCallId: open.call.id, attempt, outcome },
  );
}

function resultMessage(
  open: OpenCall,
  id: string,
  content: readonly ContentPart[],
  errorDetail: string | undefined,
): ToolResultMessage {
  const { turnId, stepId } = open.message;
  const { id: toolCallId, name } = open.call;
  const message: ToolResultMessage = { type: "toolResult", id, turnId, stepId, toolCallId, name, content };
  return errorDetail === undefined ? message : { ...message, errorDetail };
}

/** The calls to run. What has come to a result already is no part of the batch any more. */
function requestsOf(calls: ReadonlyMap<string, OpenCall>): ToolCallRequest[] {
  const requests: ToolCallRequest[] = [];
  let done = 0;
  for (const { result } of calls.values()) if (result) done++;
  let position = 0;
  for (const { call, result } of calls.values()) {
    if (!result) {
      const { id, name, arguments: args, rawArguments, dependsOn, executionHint } = call;
      const request: ToolCallRequest = { id, name, arguments: args ?? {} };
      if (done > 0) request.position = position;
      if (rawArguments !== undefined) request.rawArguments = rawArguments;
      if (dependsOn) request.dependsOn = dependsOn.filter((needed) => !calls.get(needed)?.result);
      if (executionHint) request.executionHint = executionHint;
      requests.push(request);
    }
    position++;
  }
  return requests;
}

function finishOf(outcome: ToolCallOutcome): Exclude<FinishOutcome, "interrupted"> {
  if (outcome.skipped !== undefined) return "skipped";
  if (outcome.error?.kind === "cancelled") return "cancelled";
  return outcome.error || outcome.result?.errorDetail !== undefined ? "error" : "ok";
}

function recordOf(change: ActivationChange): SessionRecordBody {
  return change.type === "activated"
    ? { type: "activated", tools: change.tools, by: change.by }
    : { type: "deactivated", tools: change.tools };
}
