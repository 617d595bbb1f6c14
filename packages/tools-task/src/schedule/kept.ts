import type { ScheduledPrompt } from "./schedules.js";
import { nextTime, type When } from "./when.js";

/** What is kept of the schedules of a session. */
export interface Kept {
  /** How many there have been: the number of the last one. */
  count: number;
  entries: ScheduledPrompt[];
}

/** What a store gave back. Who else writes to it, or another version of this program, must not stop what can be read. */
export function keptIn(value: unknown): Kept {
  const { count, entries } = (value ?? {}) as { count?: unknown; entries?: unknown };
  const list = Array.isArray(entries) ? entries.filter(isEntry) : [];
  const numbers = list.map(({ id }) => Number(/\d+$/.exec(id)?.[0] ?? 0));
  return { count: Math.max(0, typeof count === "number" && count > 0 ? count : 0, ...numbers), entries: list };
}

/** The next time of one that is due; undefined where there is none, or none that can be told any more. */
export function nextOf({ when, next }: ScheduledPrompt, now: number): number | undefined {
  try {
    return nextTime(when, now, next);
  } catch {
    return undefined; // a time zone that is not known here
  }
}

function isEntry(value: unknown): value is ScheduledPrompt {
  const { id, prompt, when, next } = (value ?? {}) as { [key: string]: unknown };
  return typeof id === "string" && typeof prompt === "string" && Number.isFinite(next) && isWhen(when);
}

function isWhen(value: unknown): value is When {
  const { type, cron, ms, at } = (value ?? {}) as { [key: string]: unknown };
  if (type === "cron") return typeof cron === "string";
  return type === "every" ? typeof ms === "number" && ms >= 1000 : type === "at" && Number.isFinite(at);
}
