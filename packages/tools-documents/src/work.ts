import { Worker } from "node:worker_threads";
import { quote } from "@shedkit/fs";
import { Failure } from "./failure.js";

/** What went wrong in the thread, as it was thrown there. */
export class WorkFault extends Error {}

/** Asks the thread; see `worker.js` for the kinds. Rejects with WorkFault, Failure, or the reason of the signal. */
export type Ask = <T>(request: { kind: string; [name: string]: unknown }) => Promise<T>;

const MAX_HEAP_MB = 1024;

/** Runs a body that has a thread of its own, which ends with it, at the latest after `ms`, or with the signal. */
export async function withThread<T>(
  path: string,
  ms: number,
  signal: AbortSignal,
  body: (ask: Ask) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const worker = new Worker(new URL("./worker.js", import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    env: {},
    stdout: true,
    stderr: true,
  });
  let fail: (reason: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});
  const abort = (): void => fail(signal.reason);
  const timer = setTimeout(() => {
    fail(new Failure("timeout", `${quote(path)} could not be read within ${ms / 1000} s.`));
  }, ms);
  signal.addEventListener("abort", abort);
  worker.on("error", (fault: Error & { code?: string }) => {
    const memory = fault.code === "ERR_WORKER_OUT_OF_MEMORY";
    const why = memory ? "it takes too much memory" : fault.message;
    fail(new Failure(memory ? "too large" : "damaged", `${quote(path)} could not be read: ${why}.`));
  });
  const ask: Ask = <V>(request: { kind: string }) =>
    new Promise<V>((resolve, reject) => {
      worker.once("message", ({ value, fault }: { value: V; fault?: { name: string; message: string } }) => {
        if (fault === undefined) return resolve(value);
        reject(Object.assign(new WorkFault(fault.message), { name: fault.name }));
      });
      worker.postMessage(request);
      failed.catch(reject);
    });
  try {
    return await Promise.race([body(ask), failed]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    await worker.terminate();
  }
}
