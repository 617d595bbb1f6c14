/**
 * The same items, but ended at the latest `graceMs` after `signal` aborts: a source that does not hear the signal is
 * left behind.
 */
export async function* abortable<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal | undefined,
  graceMs: number,
): AsyncGenerator<T, void, void> {
  const iterator = source[Symbol.asyncIterator]();
  let leave: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let late = false;
  let done = false;
  const onAbort = () => {
    timer ??= setTimeout(() => {
      late = true;
      leave?.();
    }, graceMs);
  };
  if (signal?.aborted) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });
  try {
    while (!late) {
      // A new promise for each item: racing one long-lived promise would keep every loser alive.
      const next = await new Promise<IteratorResult<T> | undefined>((resolve, reject) => {
        leave = () => resolve(undefined);
        iterator.next().then(resolve, reject);
      });
      if (next === undefined) break;
      if (next.done) {
        done = true;
        break;
      }
      yield next.value;
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    if (!done) {
      const left = iterator.return?.();
      // A source that hangs would hang its `return` too.
      if (left) left.then(undefined, () => undefined);
    }
  }
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
