import { AgenticError } from "@shedkit/types";

const END = { done: true, value: undefined } as const;

/**
 * The same items, but ended at the latest `graceMs` after `signal` aborts: a source that does not hear the signal is
 * left behind. Made by hand, since every token comes through here: a generator would cost three times as much.
 */
export function abortable<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal | undefined,
  graceMs: number,
): AsyncIterable<T> {
  if (!signal) return source;
  return { [Symbol.asyncIterator]: () => abortableIterator(source[Symbol.asyncIterator](), signal, graceMs) };
}

function abortableIterator<T>(
  source: AsyncIterator<T>,
  signal: AbortSignal,
  graceMs: number,
): AsyncIterator<T, undefined> {
  let leave: ((end: typeof END) => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let over = false;
  const finish = () => {
    over = true;
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  };
  /** A source that hangs would hang its `return` too. */
  const letGo = () => {
    finish();
    source.return?.().then(undefined, () => undefined);
  };
  const onAbort = () => {
    timer ??= setTimeout(() => {
      letGo();
      leave?.(END);
    }, graceMs);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return {
    // A new promise for each item: racing one long-lived promise would keep every loser alive.
    next: () =>
      new Promise((resolve, reject) => {
        if (over) {
          resolve(END);
          return;
        }
        leave = resolve;
        source.next().then(
          (next) => {
            if (next.done) finish();
            resolve(next.done ? END : next);
          },
          (error: unknown) => {
            finish();
            reject(error);
          },
        );
      }),
    return: async () => {
      if (!over) letGo();
      return END;
    },
  };
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
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(error());
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([value, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
