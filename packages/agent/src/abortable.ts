import { onAbort } from "@shedkit/tool";
import { AgenticError } from "@shedkit/types";

/**
 * Gives the items of a source to `take`, until that says that it has enough, the source ends, or `graceMs` have passed
 * since `signal` aborted: a source that does not hear the signal is left behind. Every token comes through here: a
 * wrapper around the source would cost a promise and a turn of the queue for each.
 */
export function drain<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal | undefined,
  graceMs: number,
  take: (item: T) => "more" | "enough",
): Promise<void> {
  return new Promise((resolve, reject) => {
    const iterator = source[Symbol.asyncIterator]();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let over = false;
    let leave: (() => void) | undefined;
    const finish = () => {
      over = true;
      if (timer !== undefined) clearTimeout(timer);
      leave?.();
    };
    /** A source that hangs would hang its `return` too. */
    const letGo = () => {
      finish();
      iterator.return?.().then(undefined, () => undefined);
    };
    const aborted = () => {
      timer ??= setTimeout(() => {
        letGo();
        resolve();
      }, graceMs);
    };
    const read = async () => {
      try {
        while (!over) {
          const next = await iterator.next();
          if (over) return;
          if (next.done) finish();
          else if (take(next.value) === "enough") letGo();
        }
        resolve();
      } catch (error) {
        letGo();
        reject(error);
      }
    };
    if (signal?.aborted) aborted();
    else leave = signal && onAbort(signal, aborted);
    void read();
  });
}

/** What a caller's signal that aborted means, as an error of ours: `what` was not done. */
export function abortedError(signal: AbortSignal, what: string): AgenticError {
  const { reason } = signal;
  if (AgenticError.is(reason)) return reason;
  const text = reason instanceof Error ? reason.message : String(reason);
  return new AgenticError("cancelled", `${what}: ${text}`, { reason: text }, { cause: reason });
}

/** The value, or what `error` makes as soon as `signal` aborts. Leaves no listener behind. */
export async function untilAborted<T>(value: Promise<T>, signal: AbortSignal, error: () => Error): Promise<T> {
  if (signal.aborted) {
    value.catch(() => undefined);
    throw error();
  }
  let leave: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    leave = onAbort(signal, () => reject(error()));
  });
  try {
    return await Promise.race([value, aborted]);
  } finally {
    leave?.();
  }
}
