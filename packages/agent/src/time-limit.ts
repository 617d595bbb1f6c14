import { AgenticError } from "@shedkit/types";
import type { LoopEffects } from "./loop/effects.js";

/** Timers take no more; it is a month. */
const LONGEST_MS = 2_147_483_647;

/** Does work under a signal that aborts with `signal`, or when `ms` have passed. `what` says then what took too long. */
export async function inTime<T>(
  effects: Pick<LoopEffects, "sleep">,
  ms: number,
  signal: AbortSignal,
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const done = new AbortController();
  const timer = effects.sleep(Math.min(ms, LONGEST_MS), done.signal).then(
    () => late.abort(new AgenticError("cancelled", `${what} took too long.`, { reason: "timeout" })),
    () => undefined, // it was done in time
  );
  try {
    return await work(AbortSignal.any([signal, late.signal]));
  } finally {
    done.abort();
    await timer;
  }
}
