import { delay, type ModelEvent, type ModelProvider, type ModelRequest } from "@shedkit/provider";
import type { RunOptions, ToolCallManager, ToolCallOutcome, ToolCallRequest } from "@shedkit/shed";
import type { DocumentStore, SessionLease } from "@shedkit/store";
import { AgenticError, type KnowledgeHit, newRecordId, type SessionRecord } from "@shedkit/types";
import { untilAborted } from "../abortable.js";

/** All that the loop does to the world. Whoever supplies it (a durable engine, a test) decides how it is done. */
export interface LoopEffects {
  /** Milliseconds since the epoch. */
  now(): number;
  /** A new id, unique in the session, that sorts by time. */
  newId(): string;
  /** Durable, all or none, in the order of the calls. */
  append(records: readonly SessionRecord[]): Promise<unknown>;
  /** Ends when `request.signal` aborts; what does not is left behind after {@link GRACE_MS}. */
  generate(provider: ModelProvider, request: ModelRequest): AsyncIterable<ModelEvent>;
  /** Looks in what the session has stored, by `search`. Rejects as soon as `signal` aborts. */
  recall(search: () => Promise<readonly KnowledgeHit[]>, signal: AbortSignal): Promise<readonly KnowledgeHit[]>;
  /** Waits. Rejects as soon as `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Runs the calls of one step; see `ToolCallManager.runCalls`. Ends when `options.signal` aborts, as `generate` does. */
  runCalls(
    tools: ToolCallManager,
    requests: readonly ToolCallRequest[],
    options: RunOptions,
  ): AsyncIterable<ToolCallOutcome>;
}

/** How long an aborted model or tool call may take to end by itself, in milliseconds. */
export const GRACE_MS = 1000;

// The same for all sessions.
const now: LoopEffects["now"] = () => Date.now();
const newId: LoopEffects["newId"] = () => newRecordId();
const generate: LoopEffects["generate"] = (provider, request) => provider.stream(request);
const recall: LoopEffects["recall"] = (search, signal) =>
  untilAborted(search(), signal, () => AgenticError.from(signal.reason));
const sleep: LoopEffects["sleep"] = (ms, signal) => delay(ms, signal);
const runCalls: LoopEffects["runCalls"] = (tools, requests, options) => tools.runCalls(requests, options);

/** The effects of a session that runs in this process. */
export function inProcessEffects(store: DocumentStore, lease: SessionLease): LoopEffects {
  const append: LoopEffects["append"] = (records) => store.append(lease, records);
  return { now, newId, append, generate, recall, sleep, runCalls };
}
