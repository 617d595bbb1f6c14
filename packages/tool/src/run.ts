import type { ToolArguments } from "@shedkit/types";
import { onAbort } from "./abort.js";
import { checkedResult } from "./check-result.js";
import { ToolError } from "./error.js";
import { toToolError } from "./fault.js";
import type { ToolContext, ToolEvent, ToolImpl } from "./impl.js";
import { CallTimer } from "./timer.js";

type Terminal = Exclude<ToolEvent, { type: "progress" }>;

/** Watches over a running call until it ends: cancelled from outside, or out of time. */
class Watch {
  readonly #controller = new AbortController();
  readonly #ctx: ToolContext;
  readonly #timer: CallTimer;
  readonly #leave: () => void;
  #error: ToolError | undefined;
  #waiting: ((error: ToolError) => void) | undefined;

  constructor(ctx: ToolContext, timeout: CallTimer | number | undefined) {
    this.#ctx = ctx;
    this.#timer = timeout instanceof CallTimer ? timeout : new CallTimer(timeout);
    this.#timer.start(() => this.#stop(timedOut(ctx.names.tool, this.#timer.ms)));
    const cancel = () => this.#stop(cancelled(ctx.names.tool, ctx.signal.reason));
    this.#leave = onAbort(ctx.signal, cancel);
    if (ctx.signal.aborted) cancel();
  }

  /** Why the call was stopped. */
  get error(): ToolError | undefined {
    return this.#error;
  }

  /** Starts the tool. */
  start(tool: ToolImpl, args: ToolArguments): ReturnType<ToolImpl["execute"]> {
    return tool.execute(args, { ...this.#ctx, signal: this.#controller.signal });
  }

  #stop(error: ToolError): void {
    if (this.#error !== undefined) return;
    this.#error = error;
    this.#controller.abort(error);
    this.#waiting?.(error);
  }

  /** The promise's value, or a rejection with the error as soon as the call is stopped. One wait at a time. */
  race<T>(promise: PromiseLike<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting = reject;
      promise.then(resolve, reject); // a late rejection lands here too, unheard
      if (this.#error !== undefined) reject(this.#error);
    });
  }

  failed(fault: unknown): Terminal {
    return { type: "error", error: this.#error ?? toToolError(fault, this.#ctx.names.tool) };
  }

  /** Lets go of timer and signal. Whoever stops reading before there is a terminal event stops the tool. */
  end(terminal: Terminal | undefined): void {
    this.#timer.stop();
    this.#leave();
    if (terminal === undefined) this.#stop(cancelled(this.#ctx.names.tool, undefined));
  }
}

/**
 * Runs a tool and keeps its promises for it: progress any number of times, then exactly one result or error, whatever
 * the tool does. A tool that throws, ends without a result, gives two, or does not settle in time (milliseconds, or a timer
 * that can be held) gets an error; one that is stopped is let go at once, even if it never notices.
 *
 * The iterable never throws. `args` must fit the tool's schema: see {@link prepareArguments}.
 */
export async function* runTool(
  tool: ToolImpl,
  args: ToolArguments,
  ctx: ToolContext,
  timeout: CallTimer | number | undefined,
): AsyncGenerator<ToolEvent, void, void> {
  const watch = new Watch(ctx, timeout);
  let terminal: Terminal | undefined;
  try {
    if (watch.error !== undefined) throw watch.error;
    const running = watch.start(tool, args);
    terminal = isAsyncIterable(running)
      ? yield* eventsOf(running, ctx, watch)
      : resultOf(await watch.race(Promise.resolve(running)), ctx);
  } catch (e) {
    terminal = watch.failed(e);
  } finally {
    watch.end(terminal);
  }
  yield terminal;
}

/** As {@link runTool}, with its result or error alone. Rejects with nothing but what `onProgress` throws. */
export async function runToolToEnd(
  tool: ToolImpl,
  args: ToolArguments,
  ctx: ToolContext,
  timeout: CallTimer | number | undefined,
  onProgress?: ((event: ToolEvent & { type: "progress" }) => void) | undefined,
): Promise<Terminal> {
  const watch = new Watch(ctx, timeout);
  let events: ReturnType<typeof eventsOf> | undefined;
  let terminal: Terminal | undefined;
  try {
    try {
      if (watch.error !== undefined) throw watch.error;
      const running = watch.start(tool, args);
      if (isAsyncIterable(running)) events = eventsOf(running, ctx, watch);
      else terminal = resultOf(await watch.race(Promise.resolve(running)), ctx);
    } catch (e) {
      terminal = watch.failed(e);
    }
    while (terminal === undefined && events !== undefined) {
      const next = await events.next().catch((e: unknown) => ({ done: true as const, value: watch.failed(e) }));
      if (next.done === true) terminal = next.value;
      else onProgress?.(next.value);
    }
    return terminal as Terminal;
  } finally {
    watch.end(terminal);
    if (terminal === undefined) await events?.return(undefined as never); // lets the tool clean up
  }
}

/** Yields the tool's progress, returns its terminal event. */
async function* eventsOf(
  running: AsyncIterable<ToolEvent>,
  ctx: ToolContext,
  watch: Watch,
): AsyncGenerator<ToolEvent & { type: "progress" }, Terminal, void> {
  const iterator = running[Symbol.asyncIterator]();
  let last: Terminal | undefined;
  let ended = false;
  try {
    while (true) {
      let next: IteratorResult<ToolEvent, unknown>;
      try {
        next = await watch.race(iterator.next());
      } catch (e) {
        ended = watch.error === undefined;
        // It had said what came of it, and only did not come to its end.
        if (last !== undefined && watch.error !== undefined) break;
        throw e;
      }
      if (next.done === true) {
        ended = true;
        break;
      }
      const event = next.value;
      if (last !== undefined) throw malformed(ctx.names.tool, "went on after its result", "stream_after_terminal");
      if (event.type === "progress") yield event;
      else last = event;
    }
  } finally {
    if (!ended) letGo(iterator);
  }
  if (last === undefined) throw malformed(ctx.names.tool, "ended without a result", "stream_no_terminal");
  return last.type === "result" ? resultOf(last.result, ctx) : last;
}

function resultOf(result: unknown, ctx: ToolContext): Terminal {
  return { type: "result", result: checkedResult(result, ctx.names.tool) };
}

/** Asks the tool to clean up, without waiting: it may hang. */
function letGo(iterator: AsyncIterator<unknown>): void {
  try {
    Promise.resolve(iterator.return?.()).catch(() => {});
  } catch {
    // It is done with either way.
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<ToolEvent> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

function cancelled(tool: string, reason: unknown): ToolError {
  return new ToolError("cancelled", tool, `${tool} was cancelled.`, reason === undefined ? {} : { cause: reason });
}

function timedOut(tool: string, ms = 0): ToolError {
  return new ToolError("timeout", tool, `${tool} took longer than ${ms / 1000} s and was stopped.`, {
    retryable: true,
  });
}

function malformed(tool: string, what: string, code: string): ToolError {
  return new ToolError("custom", tool, `${tool} ${what} (${code}).`);
}
