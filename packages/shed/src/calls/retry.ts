import { showValue, ToolError } from "@shedkit/tool";
import type { ToolRetryConfig } from "../types.js";

/** What waiting needs of the world. */
export interface RetryClock {
  /** Resolves after so many milliseconds, or as soon as the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** From 0 up to 1, for the jitter. */
  random(): number;
}

export const defaultRetry: Readonly<ToolRetryConfig> = Object.freeze({
  maxRetries: 3,
  initialBackoffMs: 1000,
  backoffMultiplier: 2,
  maxBackoffMs: 30_000,
  retryOn: Object.freeze(["timeout", "network"] as const),
  anyTool: false,
});

const LEAST: Readonly<Record<Exclude<keyof ToolRetryConfig, "retryOn" | "anyTool">, number>> = {
  maxRetries: 0,
  initialBackoffMs: 0,
  backoffMultiplier: 1,
  maxBackoffMs: 0,
};

/**
 * The settings with a change of some. Throws ToolError `invalidArguments` for a value that would make a failed call run
 * again without end.
 */
export function changedRetry(
  tool: string,
  before: ToolRetryConfig,
  change: { readonly [field in keyof ToolRetryConfig]?: ToolRetryConfig[field] | undefined },
): ToolRetryConfig {
  const refuse = (field: string, wanted: string, got: unknown): never => {
    const message = `The retries of ${tool}: ${field}: wanted ${wanted}, got ${showValue(got)}.`;
    throw new ToolError("invalidArguments", tool, message);
  };
  const after = { ...before };
  for (const [field, least] of Object.entries(LEAST) as [keyof typeof LEAST, number][]) {
    const value: unknown = change[field];
    if (value === undefined) continue;
    if (typeof value !== "number" || !Number.isFinite(value) || value < least)
      refuse(field, `a number of at least ${least}`, value);
    else after[field] = value;
  }
  const { retryOn = before.retryOn, anyTool = before.anyTool } = change;
  if (!Array.isArray(retryOn)) refuse("retryOn", "a list of kinds of errors", retryOn);
  if (typeof anyTool !== "boolean") refuse("anyTool", "true or false", anyTool);
  return { ...after, retryOn, anyTool };
}

const JITTER = 0.25;

/** How long to wait before the next try, in milliseconds; undefined where there is none. `attempts` were made. */
export function backoffMs(
  error: ToolError,
  attempts: number,
  config: ToolRetryConfig,
  random: () => number,
): number | undefined {
  if (attempts > config.maxRetries || !config.retryOn.includes(error.kind)) return undefined;
  const planned = config.initialBackoffMs * config.backoffMultiplier ** (attempts - 1);
  const spread = Math.min(planned, config.maxBackoffMs) * (1 + JITTER * (2 * random() - 1));
  return Math.min(config.maxBackoffMs, Math.max(spread, error.retryAfterMs ?? 0));
}

/** The clock of the machine. */
export const systemClock: RetryClock = {
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener("abort", done);
    }),
  random: Math.random,
};
