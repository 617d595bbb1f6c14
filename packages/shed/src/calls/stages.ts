import { ToolError, toToolError } from "@shedkit/tool";
import type { ToolCallOutcome, ToolCallRequest, ToolCallWorkflow } from "../types.js";
import { cancelledOutcome, failedOutcome, skippedOutcome } from "./outcomes.js";

/** Why calls are aborted whose reader has left. */
const OVER = new ToolError("cancelled", "", "The calls are over.");

/** Runs one call. Rejects only for faults that are not the call's. */
export type RunCall = (request: ToolCallRequest, signal: AbortSignal) => ToolCallOutcome | Promise<ToolCallOutcome>;

export interface StageOptions {
  signal?: AbortSignal | undefined;
  /** How many calls of a parallel stage run at once. Default: 8. */
  concurrency?: number | undefined;
  /** Awaited as soon as a call is done or skipped. */
  after?: ((outcome: ToolCallOutcome) => void | Promise<void>) | undefined;
}

/**
 * Runs the stages one after the other and yields the outcomes in the order of the calls, each as soon as it and all
 * before it are there. Leaving the loop aborts what still runs. A fault of `runCall` or `after` ends everything.
 */
export async function* runStages(
  workflow: ToolCallWorkflow,
  runCall: RunCall,
  options: StageOptions,
): AsyncGenerator<ToolCallOutcome, void, void> {
  const [only, ...others] = workflow.order;
  const call = others.length === 0 ? workflow.stages[0]?.calls.find(({ id }) => id === only) : undefined;
  if (call !== undefined) {
    // Most batches are one call: nothing waits for it and nothing runs beside it.
    const { signal = new AbortController().signal } = options;
    const outcome = await outcomeOf(workflow, call, runCall, signal);
    await options.after?.(outcome);
    yield outcome;
    return;
  }
  const abort = new AbortController();
  const stop = () => abort.abort(options.signal?.reason);
  if (options.signal?.aborted) stop();
  options.signal?.addEventListener("abort", stop);
  const results = new Map(workflow.order.map((id) => [id, deferred<ToolCallOutcome>()]));
  const run = new Run(workflow, runCall, abort.signal, async (outcome) => {
    await options.after?.(outcome);
    results.get(outcome.request.id)?.resolve(outcome);
  });
  const running = run.stages(options.concurrency ?? 8).catch((fault: unknown) => {
    abort.abort(fault);
    for (const result of results.values()) result.reject(fault);
  });
  let over = false;
  try {
    for (const result of results.values()) yield await result.promise;
    over = true;
  } finally {
    if (!over) abort.abort(OVER); // without a reason, each batch would make an exception with a stack
    await running;
    options.signal?.removeEventListener("abort", stop);
  }
}

class Run {
  /** Calls that came to nothing. */
  readonly #failed = new Map<string, ToolCallRequest>();

  constructor(
    readonly workflow: ToolCallWorkflow,
    readonly runCall: RunCall,
    readonly signal: AbortSignal,
    readonly done: (outcome: ToolCallOutcome) => Promise<void>,
  ) {}

  async stages(concurrency: number): Promise<void> {
    for (const stage of this.workflow.stages) {
      if (stage.type === "sequential") await this.#sequential(stage.calls);
      else await this.#parallel(stage.calls, concurrency);
    }
  }

  async #sequential(calls: readonly ToolCallRequest[]): Promise<void> {
    let failed: ToolCallRequest | undefined;
    for (const call of calls) {
      if (failed) await this.#finish(skippedOutcome(call, `the call "${failed.id}" (${failed.name}) before it failed`));
      else if (!(await this.#one(call))) failed = call;
    }
  }

  async #parallel(calls: readonly ToolCallRequest[], concurrency: number): Promise<void> {
    const waiting = calls[Symbol.iterator](); // shared: each worker takes the next
    const worker = async () => {
      for (const call of waiting) await this.#one(call);
    };
    const places = concurrency >= 1 ? Math.min(concurrency, calls.length) : 1; // none at all would wait for ever
    const workers = Array.from({ length: places }, worker);
    const settled = await Promise.allSettled(workers); // a fault must not leave other calls running unseen
    for (const result of settled) if (result.status === "rejected") throw result.reason;
  }

  /** True where the call succeeded. */
  async #one(call: ToolCallRequest): Promise<boolean> {
    const faulty = this.workflow.faults?.has(call.id);
    const lost = faulty ? undefined : call.dependsOn?.find((id) => this.#failed.has(id));
    if (lost !== undefined) {
      const name = this.#failed.get(lost)?.name;
      return this.#finish(skippedOutcome(call, `the call "${lost}" (${name}), which it depends on, did not succeed`));
    }
    return this.#finish(await outcomeOf(this.workflow, call, this.runCall, this.signal));
  }

  async #finish(outcome: ToolCallOutcome): Promise<boolean> {
    const succeeded = outcome.result !== undefined && outcome.result.errorDetail === undefined;
    if (!succeeded) this.#failed.set(outcome.request.id, outcome.request);
    await this.done(outcome);
    return succeeded;
  }
}

/** Runs a call, unless there is a reason not to. */
function outcomeOf(
  workflow: ToolCallWorkflow,
  call: ToolCallRequest,
  runCall: RunCall,
  signal: AbortSignal,
): ToolCallOutcome | Promise<ToolCallOutcome> {
  const fault = workflow.faults?.get(call.id);
  if (fault) return failedOutcome(call, fault);
  return signal.aborted ? cancelledOutcome(call) : runCall(call, signal);
}

/** The outcomes of a batch that cannot be ordered. */
export async function* refuseAll(
  requests: readonly ToolCallRequest[],
  error: unknown,
  { after }: StageOptions,
): AsyncGenerator<ToolCallOutcome, void, void> {
  for (const request of requests) {
    const outcome = failedOutcome(request, toToolError(error, request.name));
    await after?.(outcome);
    yield outcome;
  }
}

interface Deferred<T> {
  promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

function deferred<T>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((onValue, onFault) => {
    resolve = onValue;
    reject = onFault;
  });
  promise.catch(() => {}); // a reader that left early waits for none of the rest
  return { promise, resolve, reject };
}
