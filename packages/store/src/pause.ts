import type { SessionId } from "@shedkit/types";
import { cancelledError } from "./store-error.js";

/** Waits; rejects with AgenticError `cancelled` as soon as `signal` aborts. */
export async function pause(ms: number, session: SessionId, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) throw cancelledError(session, signal);
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(cancelledError(session, signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
