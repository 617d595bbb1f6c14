import { AgenticError } from "@shedkit/types";
import type { ModelEvent } from "../contract.js";
import { cancelledFailure, type FailureContext, responseFailure } from "../failure.js";
import { delay, retryDelay } from "../retry.js";
import type { CloudProviderConfig } from "./config.js";
import { brokenOff, sdkFailure } from "./sdk-failure.js";
import type { AnswerSink } from "./sink.js";
import { IDLE_MS, Watch } from "./watch.js";

/** One try of a request. */
export interface Attempt<E> {
  /**
   * Sends the request. What comes back is read in batches, of the events that came together. `signal` aborts with the
   * request's, and when the stream goes silent.
   */
  open(signal: AbortSignal): Promise<AsyncIterable<readonly E[]>>;
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
  /** The window that the configuration states: an answer to a longer prompt was to a part of it, and is an overflow. */
  window?: number | undefined;
  attempt(): Attempt<E>;
}

/**
 * Runs a generation: waits for a place, repeats what failed before its first delta, watches for silence, closes the
 * socket when the request aborts or its reader leaves, and ends in exactly one `finish` or `failure`. A stream that has
 * begun is never repeated: its failure is handed on, and whoever starts anew says so.
 */
export function drive<E>(plan: Drive<E>): AsyncIterableIterator<ModelEvent, undefined, undefined> {
  return new Generation(plan);
}

type Step = IteratorResult<ModelEvent, undefined>;

const OVER: Step = { value: undefined, done: true };

const NOTHING: readonly never[] = [];

/**
 * The iterator of a generation, written out: an async generator would cost a delta as much as all the rest. Events of a
 * batch are taken in one by one as the reader asks, so that nothing comes of those behind an abort.
 */
class Generation<E> implements AsyncIterableIterator<ModelEvent, undefined, undefined> {
  readonly #plan: Drive<E>;
  /** Aborts what is waited for outside a stream when the reader leaves. */
  #leaving: AbortController | undefined;
  #release: (() => void) | undefined;
  #attempt: Attempt<E> | undefined;
  #watch: Watch | undefined;
  #wire: AsyncIterator<readonly E[]> | undefined;
  #batch: readonly E[] = NOTHING;
  #inBatch = 0;
  /** Its headers have come. */
  #opened = false;
  /** The stream has ended, or broken by `#failure`. */
  #ended = false;
  #failure: AgenticError | undefined;
  #tries = 0;
  /** What is handed out next, from `#at` on: the list of the attempt's sink. */
  #events: ModelEvent[] = [];
  #at = 0;
  #started = false;
  #state: "running" | "settled" | "told" = "running";
  #busy = false;
  /** Readers who asked before the one ahead of them got its event. */
  readonly #readers: (() => void)[] = [];

  constructor(plan: Drive<E>) {
    this.#plan = plan;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    if (this.#busy) return new Promise((resolve) => this.#readers.push(() => resolve(this.#serve())));
    this.#busy = true;
    return this.#serve();
  }

  /** The reader leaves, maybe while something is awaited. */
  async return(): Promise<Step> {
    this.#state = "told";
    this.#events = [];
    this.#at = 0;
    this.#leaving?.abort(new Error("nobody reads the answer any more"));
    await this.#close();
    this.#free();
    return OVER;
  }

  #serve(): Promise<Step> {
    if (this.#hasMore() || this.#state !== "running") return Promise.resolve(this.#handOut());
    return this.#tries > 0 ? this.#readOn() : this.#open();
  }

  /** Whether there is something to hand out; takes in as much of the batch as that needs. */
  #hasMore(): boolean {
    while (this.#events.length === 0) {
      if (this.#inBatch >= this.#batch.length || this.#ended || this.#watch?.over) return false;
      try {
        this.#attempt?.read(this.#batch[this.#inBatch++] as E);
      } catch (error) {
        this.#fail(error instanceof TypeError ? this.#strange(error) : error);
      }
    }
    return !this.#ended;
  }

  /** Reads until there is something to hand out, or the stream is over. */
  async #readOn(): Promise<Step> {
    try {
      this.#watch?.wait();
      while (!this.#ended && this.#wire !== undefined && !this.#watch?.over) {
        const item = await this.#wire.next();
        if (item.done) {
          this.#ended = true;
          this.#attempt?.done?.();
          break;
        }
        if (item.value.length > 0) this.#watch?.wait(); // pings alone make an empty batch, and count as silence
        this.#batch = item.value;
        this.#inBatch = 0;
        if (!this.#hasMore()) continue;
        this.#watch?.rest();
        return this.#handOut();
      }
    } catch (error) {
      this.#fail(error);
    }
    return this.#settle();
  }

  /** An event that has another shape than the wire's. */
  #strange(cause: TypeError): AgenticError {
    const { provider, model } = this.#plan.context;
    const text = `${provider} sent an event that is not of this wire (${cause.message}). Check that it speaks it.`;
    return new AgenticError("generation", text, { kind: "other", provider, model }, { cause });
  }

  #fail(error: unknown): void {
    this.#ended = true;
    this.#failure = sdkFailure(error, this.#plan.context);
  }

  /** The next event, and the turn of the reader behind. */
  #handOut(): Step {
    const step = this.#step();
    if (this.#readers.length === 0) this.#busy = false;
    else this.#readers.shift()?.();
    return step;
  }

  #step(): Step {
    if (!this.#started && this.#opened && this.#state !== "told") {
      this.#started = true;
      return { value: { type: "start", warnings: this.#plan.warnings }, done: false };
    }
    const value = this.#events[this.#at];
    if (value === undefined) return this.#last();
    if (++this.#at === this.#events.length) {
      this.#at = 0;
      this.#events.length = 0;
    }
    return { value, done: false };
  }

  /** One terminal event, then none. */
  #last(): Step {
    if (this.#state === "told") return OVER;
    this.#state = "told";
    const { signal } = this.#plan.context;
    // An abort counts also where the answer was just complete.
    const error = signal?.aborted ? cancelledFailure(signal) : this.#failure;
    if (error !== undefined) return { value: { type: "failure", error }, done: false };
    const { finished = "stop", warnings = [] } = this.#attempt?.sink ?? {};
    return { value: { type: "finish", reason: finished, ...(warnings.length > 0 && { warnings }) }, done: false };
  }

  /** Begins a try, and reads on to what it has first. */
  async #open(): Promise<Step> {
    const { config, context } = this.#plan;
    let attempt: Attempt<E>;
    try {
      if (context.signal?.aborted) throw cancelledFailure(context.signal);
      this.#release ??= await config.limit?.take(this.#waitable());
      if (this.#state !== "running") return this.#settle();
      attempt = this.#plan.attempt();
    } catch (error) {
      return this.#giveUp(error);
    }
    this.#attempt = attempt;
    this.#events = attempt.sink.events;
    this.#tries++;
    this.#opened = false;
    this.#ended = false;
    this.#failure = undefined;
    this.#watch = new Watch(config.idleTimeoutMs ?? IDLE_MS, context.signal);
    try {
      const stream = await attempt.open(this.#watch.signal);
      this.#opened = true;
      this.#wire = stream[Symbol.asyncIterator]();
      this.#watch.start();
    } catch (error) {
      this.#fail(error);
    }
    return this.#readOn();
  }

  /** A try is over: another one, or what is left to say. */
  async #settle(): Promise<Step> {
    await this.#close();
    const { config, context } = this.#plan;
    const sink = this.#attempt?.sink;
    if (this.#state !== "running" || sink === undefined) {
      this.#free();
      return this.#handOut();
    }
    const broken = sink.finished === undefined ? brokenOff(context) : undefined;
    const failure = this.#watch?.verdict(context) ?? this.#failure ?? broken ?? this.#cutPrompt(sink);
    const policy = { ...config.retry, maxRetries: config.maxRetries };
    const pause = failure === undefined || this.#started ? undefined : retryDelay(failure, this.#tries, policy);
    try {
      if (pause !== undefined) {
        this.#opened = false;
        this.#free(); // its place is another's meanwhile, and the repetition counts as a request
        await delay(pause, this.#waitable());
        return this.#open();
      }
      sink.end(failure === undefined);
      const usage = sink.reported;
      if (usage !== undefined) sink.events.push({ type: "usage", usage });
    } catch (error) {
      return this.#giveUp(error);
    }
    this.#failure = failure;
    this.#state = "settled";
    this.#free();
    return this.#handOut();
  }

  /** A signal for what may be waited for as long as there is a reader. */
  #waitable(): AbortSignal {
    this.#leaving ??= new AbortController();
    const { signal } = this.#plan.context;
    return signal === undefined ? this.#leaving.signal : AbortSignal.any([signal, this.#leaving.signal]);
  }

  /** Some servers cut a prompt that is too long, and answer as if nothing were. */
  #cutPrompt({ reported }: AnswerSink): AgenticError | undefined {
    const { window, context } = this.#plan;
    const prompt = reported === undefined ? 0 : reported.input + reported.cacheRead;
    if (window === undefined || prompt <= window) return undefined;
    const message = `the prompt of ${prompt} tokens exceeds the context window of ${window}, and was cut`;
    return responseFailure({ code: "context_length_exceeded", message }, context);
  }

  #giveUp(error: unknown): Step {
    this.#fail(error);
    if (this.#state === "running") this.#state = "settled";
    this.#free();
    return this.#handOut();
  }

  async #close(): Promise<void> {
    this.#watch?.stop();
    const wire = this.#wire;
    this.#wire = undefined;
    this.#batch = NOTHING;
    this.#inBatch = 0;
    try {
      await wire?.return?.();
    } catch {
      // how a stream that nobody reads any more ended is of no use
    }
  }

  #free(): void {
    this.#release?.();
    this.#release = undefined;
  }
}
