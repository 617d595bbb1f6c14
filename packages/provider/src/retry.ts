import type { AgenticError } from "@shedkit/types";
import { cancelledFailure } from "./failure.js";

/** When and how often a request is repeated. */
export interface RetryPolicy {
  /** Repetitions after the first try. Default: 2. */
  maxRetries?: number | undefined;
  /** The first pause in milliseconds; it doubles each time. Default: 500. */
  initialDelayMs?: number | undefined;
  /** No pause of our own choice is longer. Default: 8,000. */
  maxDelayMs?: number | undefined;
  /** A provider that asks for a longer pause is not waited for. Default: 60,000. */
  maxRetryAfterMs?: number | undefined;
  /** From 0 to 1. Default: `Math.random`. */
  random?: (() => number) | undefined;
}

/**
 * How long to wait before repetition number `attempt` (from 1), in milliseconds; undefined where the request should
 * not be repeated. What the provider asked for counts; else a pause that doubles, less up to a quarter at random.
 */
export function retryDelay(error: AgenticError, attempt: number, policy: RetryPolicy = {}): number | undefined {
  if (!error.retryable || attempt > (policy.maxRetries ?? 2)) return undefined;
  const asked = error.retryAfterMs;
  if (asked !== undefined) return asked <= (policy.maxRetryAfterMs ?? 60_000) ? asked : undefined;
  const pause = Math.min(policy.maxDelayMs ?? 8000, (policy.initialDelayMs ?? 500) * 2 ** (attempt - 1));
  return pause * (1 - 0.25 * (policy.random ?? Math.random)());
}

/** Waits. Rejects with AgenticError `cancelled` as soon as `signal` aborts. */
export async function delay(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) throw cancelledFailure(signal);
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      if (signal !== undefined) reject(cancelledFailure(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
