/** Resolves when `event` does, or after `ms`; rejects with the reason of an aborted signal. Leaves no timer behind. */
export function firstOf(event: Promise<unknown>, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (then: () => void) => () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      then();
    };
    const done = leave(resolve);
    const abort = leave(() => reject(signal.reason));
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    event.then(done, done);
  });
}
