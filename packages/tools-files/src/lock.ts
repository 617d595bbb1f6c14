import type { FileSystem } from "@shedkit/fs";

const queues = new WeakMap<FileSystem, Map<string, Promise<void>>>();

/** Runs changes of one file one after the other. Waiting ends with the reason of the signal when that aborts. */
export async function exclusively<T>(
  fs: FileSystem,
  path: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const queue = queues.get(fs) ?? new Map<string, Promise<void>>();
  queues.set(fs, queue);
  const before = queue.get(path);
  let release: () => void = () => {};
  const own = new Promise<void>((resolve) => {
    release = resolve;
  });
  // Whoever comes next waits for all before it, also when this one gives up waiting.
  const tail = before ? before.then(() => own) : own;
  queue.set(path, tail);
  try {
    if (before) await abortable(before, signal);
    return await work();
  } finally {
    release();
    if (queue.get(path) === tail) queue.delete(path);
  }
}

function abortable(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
  });
}
