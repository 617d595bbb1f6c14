import type { AgentConfig, ContextConfig, LoopDetectionConfig, MemoryConfig } from "./config.js";
import type { ChildrenConfig } from "./settings.js";
import { sessionError } from "./turn/prompt.js";

/** What a number may be; absent for what is no number. */
type Ranges<T> = {
  [K in keyof T as T[K] extends number | undefined ? K : never]-?: { from: number; to?: number };
};

const SOME = { from: 0 }; // `Infinity` is no limit
const ONE = { from: 1 };
const SHARE = { from: 0, to: 1 };

export const agentRanges: Ranges<AgentConfig> = {
  maxInnerIterations: SOME,
  maxOuterIterations: SOME,
  circuitBreakerThreshold: ONE,
  preflightCompressionThreshold: SHARE,
  contextPressureThreshold: SHARE,
  toolConcurrency: ONE,
};

export const contextRanges: Ranges<ContextConfig> = {
  window: ONE,
  keepRecentTokens: SOME,
  compactionTarget: SHARE,
  summaryTokens: ONE,
  summaryTimeoutMs: SOME,
  recallBudgetTokens: SOME,
};

export const memoryRanges: Ranges<MemoryConfig> = {
  observationTriggerTokens: SOME,
  reflectionTriggerTokens: SOME,
  timeoutMs: SOME,
};

export const loopRanges: Ranges<LoopDetectionConfig> = {
  windowSize: { from: 2 },
  similarityThreshold: SHARE,
  toolCallMaxRepeats: { from: 2 },
  maxRedirects: SOME,
  temperatureDelta: { from: 0, to: 2 },
};

export const childrenRanges: Ranges<ChildrenConfig> = { maxDepth: SOME, maxRunning: SOME };

/**
 * The defaults with what was given over them; `undefined` is not given, and without anything given they are those
 * themselves. Throws AgenticError `session` for a number that
 * cannot be meant: compared with it, no limit would ever be reached.
 */
export function configured<T extends object>(defaults: T, given: Partial<T> | undefined, ranges: Ranges<T>): T {
  const config: T = given === undefined ? defaults : { ...defaults };
  for (const key in given) if (given[key] !== undefined) config[key] = given[key];
  for (const key of Object.keys(ranges) as (keyof T & keyof Ranges<T> & string)[]) {
    checkNumber(key, config[key], ranges[key]);
  }
  return config;
}

function checkNumber(name: string, value: unknown, { from, to }: { from: number; to?: number }): void {
  if (value === undefined) return; // a default that is not set
  if (typeof value === "number" && value >= from && value <= (to ?? Number.POSITIVE_INFINITY)) return;
  const wanted = to === undefined ? `a number from ${from} on` : `a number from ${from} to ${to}`;
  throw sessionError(`${name} must be ${wanted}, not ${show(value)}.`, "configuration");
}

function show(value: unknown): string {
  return typeof value === "number" ? String(value) : (JSON.stringify(value) ?? typeof value);
}
