import { AgenticError } from "@shedkit/types";
import type { ModelEvent } from "../contract.js";
import { cancelledFailure, type FailureContext } from "../failure.js";
import { delay, retryDelay } from "../retry.js";
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
 * Runs a generation: waits for a place, repeats what failed before its first delta, watches for silence, closes the
 * socket when the request aborts or its reader leaves, and ends in exactly one `finish` or `failure`. A stream that has
 * begun is never repeated: its failure is handed on, and whoever starts anew says so.
 */
export async function* drive<E>(plan: Drive<E>): AsyncGenerator<ModelEvent, void, void> {
  const { config, context } = plan;
  const { signal } = context;
  const policy = { ...config.retry, maxRetries: config.maxRetries };
  let release: (() => void) | undefined;
  try {
    if (signal?.aborted) throw cancelledFailure(signal);
    release = await config.limit?.take(signal);
    // One generator for all of it: each layer around an event would cost about as much as the SDK's own work on it.
    for (let tries = 1; ; tries++) {
      const attempt = plan.attempt();
      const { sink } = attempt;
      const watch = new Watch(config.idleTimeoutMs ?? IDLE_MS, signal);
      let failure: AgenticError | undefined;
      let opened = false;
      let begun = false;
      try {
        const stream = await attempt.open(watch.signal);
        opened = true;
        watch.start();
        for await (const event of stream) {
          watch.seen();
          attempt.read(event);
          if (sink.events.length === 0) continue;
          if (!begun) yield { type: "start", warnings: plan.warnings };
          begun = true;
          for (const ready of sink.events) yield ready;
          sink.events.length = 0;
        }
        attempt.done?.();
      } catch (error) {
        failure = sdkFailure(error, context);
      } finally {
        watch.stop();
      }
      failure = watch.verdict(context) ?? failure ?? (sink.finished === undefined ? brokenOff(context) : undefined);
      const pause = failure === undefined || begun ? undefined : retryDelay(failure, tries, policy);
      if (pause !== undefined) {
        await delay(pause, signal);
        continue;
      }
      sink.end(failure === undefined);
      if (opened && !begun) yield { type: "start", warnings: plan.warnings };
      yield* sink.events.splice(0);
      const usage = sink.reported;
      if (usage !== undefined) yield { type: "usage", usage };
      if (signal?.aborted) failure = cancelledFailure(signal); // also where the answer was just complete
      if (failure !== undefined) yield { type: "failure", error: failure };
      else yield { type: "finish", reason: sink.finished ?? "stop" };
      return;
    }
  } catch (error) {
    yield { type: "failure", error: sdkFailure(error, context) };
  } finally {
    release?.();
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
