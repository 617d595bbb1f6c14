/** Those who wait for a signal: all of them take one listener of it. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back when `signal` aborts; returns the function that ends it. Takes next to nothing while another one waits for
 * the same signal, where a listener for each takes more than many a tool. A callback waits once for each signal.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  let callbacks = waiting.get(signal);
  if (callbacks === undefined) {
    callbacks = new Set();
    waiting.set(signal, callbacks);
    signal.addEventListener("abort", callAll, { once: true });
  }
  callbacks.add(callback);
  return () => leave(signal, callback);
}

function leave(signal: AbortSignal, callback: () => void): void {
  const callbacks = waiting.get(signal);
  if (!callbacks?.delete(callback) || callbacks.size > 0) return;
  waiting.delete(signal);
  signal.removeEventListener("abort", callAll);
}

/** The one listener, the same for every signal. */
function callAll(this: AbortSignal): void {
  const callbacks = waiting.get(this);
  for (const callback of [...(callbacks ?? [])]) if (callbacks?.delete(callback)) callback();
  waiting.delete(this);
}
