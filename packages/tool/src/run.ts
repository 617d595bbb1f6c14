import type { ToolArguments } from "@shedkit/types";
import { checkedResult } from "./check-result.js";
import { ToolError } from "./error.js";
import { toToolError } from "./fault.js";
import type { ToolContext, ToolEvent, ToolImpl } from "./impl.js";
import { CallTimer } from "./timer.js";

/** The end of a running call: cancelled from outside, or out of time. */
class Stop {
  readonly controller = new AbortController();
  #error: ToolError | undefined;
  #waiting: ((error: ToolError) => void) | undefined;

  get error(): ToolError | undefined {
    return this.#error;
  }

  stop(error: ToolError): void {
    if (this.#error !== undefined) return;
    this.#error = error;
    this.controller.abort(error);
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
  const name = ctx.names.tool;
  const stop = new Stop();
  const cancel = (): void => stop.stop(cancelled(name, ctx.signal.reason));
  const timer = timeout instanceof CallTimer ? timeout : new CallTimer(timeout);
  timer.start(() => stop.stop(timedOut(name, timer.ms)));
  ctx.signal.addEventListener("abort", cancel, { once: true });
  if (ctx.signal.aborted) cancel();
  let terminal: ToolEvent | undefined;
  try {
    terminal =
      stop.error === undefined
        ? yield* progress(tool, args, withSignal(ctx, stop.controller.signal), stop)
        : { type: "error", error: stop.error };
  } catch (e) {
    terminal = { type: "error", error: stop.error ?? toToolError(e, name) };
  } finally {
    timer.stop();
    ctx.signal.removeEventListener("abort", cancel);
    // Whoever stops reading stops the tool.
    if (terminal === undefined) stop.stop(cancelled(name, undefined));
  }
  yield terminal;
}

/** Yields the tool's progress, returns its terminal event. */
async function* progress(
  tool: ToolImpl,
  args: ToolArguments,
  ctx: ToolContext,
  stop: Stop,
): AsyncGenerator<ToolEvent, ToolEvent, void> {
  const running = tool.execute(args, ctx);
  if (!isAsyncIterable(running)) return resultOf(await stop.race(Promise.resolve(running)), ctx);
  const iterator = running[Symbol.asyncIterator]();
  let last: ToolEvent | undefined;
  let ended = false;
  try {
    while (true) {
      let next: IteratorResult<ToolEvent, unknown>;
      try {
        next = await stop.race(iterator.next());
      } catch (e) {
        ended = stop.error === undefined;
        // It had said what came of it, and only did not come to its end.
        if (last !== undefined && stop.error !== undefined) break;
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

function resultOf(result: unknown, ctx: ToolContext): ToolEvent {
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

function withSignal(ctx: ToolContext, signal: AbortSignal): ToolContext {
  return { ...ctx, signal };
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
