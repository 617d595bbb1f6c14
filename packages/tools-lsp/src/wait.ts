/** Waits for a promise, at most so long. Rejects with what `late` makes, or with the reason of the signal. */
export function within<T>(promise: Promise<T>, ms: number, signal: AbortSignal, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const timer = setTimeout(() => settle(() => reject(late())), ms);
    const abort = (): void => settle(() => reject(signal.reason));
    const settle = (then: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      then();
    };
    signal.addEventListener("abort", abort);
    promise.then(
      (value) => settle(() => resolve(value)),
      (fault) => settle(() => reject(fault)),
    );
  });
}

/** Waits for a promise. Rejects with the reason of the signal where that comes first. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const abort = (): void => reject(signal.reason);
    signal.addEventListener("abort", abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
