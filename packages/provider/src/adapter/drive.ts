import { AgenticError } from "@shedkit/types";
import type { ModelEvent } from "../contract.js";
import { cancelledFailure, type FailureContext } from "../failure.js";
import { retryStream } from "../retry.js";
import type { CloudProviderConfig } from "./config.js";
import { brokenOff, sdkFailure } from "./sdk-failure.js";
import type { AnswerSink } from "./sink.js";

/** One try of a request. */
export interface Attempt<E> {
  /** Sends the request. `signal` aborts with the request's, and when the stream goes silent. */
  open(signal: AbortSignal): Promise<AsyncIterable<E>>;
  sink: AnswerSink;
  /** Takes one event of the wire into the sink. May throw what `sdkFailure` reads. */
  read(event: E): void;
  /** The stream is over: the last chance to set `sink.finished`. */
  done?(): void;
}

/** A generation over a cloud wire. */
export interface Drive<E> {
  config: CloudProviderConfig;
  context: FailureContext;
  warnings: readonly { tool?: string | undefined; message: string }[];
  attempt(): Attempt<E>;
}

const IDLE_MS = 90_000;

/**
 * Runs a generation: waits for a place, repeats what failed before it began, watches for silence, closes the socket
 * when the request aborts or its reader leaves, and ends in exactly one `finish` or `failure`.
 */
export async function* drive<E>(plan: Drive<E>): AsyncGenerator<ModelEvent, void, void> {
  const { config, context } = plan;
  const { signal } = context;
  let release: (() => void) | undefined;
  try {
    if (signal?.aborted) throw cancelledFailure(signal);
    release = await config.limit?.take(signal);
    const policy = { ...config.retry, maxRetries: config.maxRetries };
    yield* retryStream(() => tryOnce(plan), policy, signal);
  } catch (error) {
    yield { type: "failure", error: sdkFailure(error, context) };
  } finally {
    release?.();
  }
}

async function* tryOnce<E>(plan: Drive<E>): AsyncGenerator<ModelEvent, void, void> {
  const { context, config } = plan;
  const watch = new Watch(config.idleTimeoutMs ?? IDLE_MS, context.signal);
  let failure: AgenticError | undefined;
  const attempt = safely(plan.attempt);
  if (attempt instanceof Error) {
    yield { type: "failure", error: sdkFailure(attempt, context) };
    return;
  }
  const { sink } = attempt;
  try {
    const stream = await attempt.open(watch.signal);
    yield { type: "start", warnings: plan.warnings };
    watch.start();
    for await (const event of stream) {
      watch.seen();
      attempt.read(event);
      if (sink.events.length > 0) {
        yield* sink.events;
        sink.events.length = 0;
      }
    }
    attempt.done?.();
  } catch (error) {
    failure = sdkFailure(error, context);
  } finally {
    watch.stop();
  }
  failure = watch.verdict(context) ?? failure ?? (sink.finished === undefined ? brokenOff(context) : undefined);
  sink.end(failure === undefined);
  yield* sink.events.splice(0);
  const usage = sink.reported;
  if (usage !== undefined) yield { type: "usage", usage };
  if (context.signal?.aborted) failure = cancelledFailure(context.signal); // also where the answer was just complete
  if (failure !== undefined) yield { type: "failure", error: failure };
  else yield { type: "finish", reason: sink.finished ?? "stop" };
}

function safely<T>(make: () => T): T | Error {
  try {
    return make();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const TICKS = 4;

/** Aborts a stream that says nothing for too long. One timer for the whole stream, and a count for each event. */
class Watch {
  readonly #controller = new AbortController();
  readonly #idleMs: number;
  readonly #outer: AbortSignal | undefined;
  readonly #onAbort = (): void => this.#controller.abort(this.#outer?.reason);
  #timer: ReturnType<typeof setInterval> | undefined;
  #events = 0;
  #silent = false;

  constructor(idleMs: number, outer: AbortSignal | undefined) {
    this.#idleMs = idleMs;
    this.#outer = outer;
    if (outer?.aborted) this.#onAbort();
    outer?.addEventListener("abort", this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  start(): void {
    let last = 0;
    let quiet = 0;
    this.#timer = setInterval(() => {
      quiet = this.#events === last ? quiet + 1 : 0;
      last = this.#events;
      if (quiet < TICKS) return;
      this.#silent = true;
      this.#controller.abort();
    }, this.#idleMs / TICKS);
  }

  seen(): void {
    this.#events++;
  }

  /** Ends the request, if it still runs, and the watching. */
  stop(): void {
    clearInterval(this.#timer);
    this.#outer?.removeEventListener("abort", this.#onAbort);
    if (!this.#silent && !this.#outer?.aborted) this.#controller.abort();
  }

  verdict({ provider, model }: FailureContext): AgenticError | undefined {
    if (this.#outer?.aborted) return cancelledFailure(this.#outer);
    if (!this.#silent) return undefined;
    return new AgenticError(
      "generation",
      `${provider} said nothing for ${this.#idleMs} ms. Raise idleTimeoutMs if the model needs longer.`,
      { kind: "timeout", provider, model },
      { retryable: true },
    );
  }
}
