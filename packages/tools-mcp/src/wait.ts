/** How waiting is done; a test has its own. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** Resolves after so many milliseconds, or as soon as the signal aborts. Keeps no process alive. */
export const sleep: Sleep = (ms, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    (timer as { unref?(): void }).unref?.();
    signal.addEventListener("abort", done, { once: true });
  });

/** The promise's value, or a rejection with the signal's reason as soon as it aborts. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
