import type { Progress } from "@shedkit/tool";
import type { Secrets, TerminalJob } from "./terminal.js";
import { OutputStream } from "./text.js";

/** Why a job is not waited for any more. */
export type FollowEnd = "exited" | "timeout" | "cancelled";

const TICK_MS = 100;
const MAX_DELTA = 16 * 1024; // bytes of one piece

/** Passes on what a job writes, until it ends, its time is up, or the call is cancelled. */
export async function* follow(
  job: TerminalJob,
  timeoutMs: number,
  signal: AbortSignal,
  secrets?: Secrets,
): AsyncGenerator<Progress, FollowEnd, void> {
  const events = new Events(job, timeoutMs, signal);
  const stream = new OutputStream(secrets);
  let at = 0;
  try {
    while (true) {
      const event = await events.next();
      const size = await job.size();
      const from = Math.max(at, size - MAX_DELTA);
      if (size > at) {
        const text = stream.push(await job.read(from, size));
        if (text !== "") yield from > at ? { text, data: { gap: from - at } } : { text };
        at = size;
      }
      if (event === "tick") continue;
      const rest = stream.end();
      if (rest !== "") yield { text: rest };
      return event;
    }
  } finally {
    events.stop();
  }
}

/** What a running job is waited for with: its end, a tick, the end of its time, an abort. */
class Events {
  readonly #end: Promise<FollowEnd>;
  readonly #clear: () => void;
  #tick: ReturnType<typeof setTimeout> | undefined;

  constructor(job: TerminalJob, timeoutMs: number, signal: AbortSignal) {
    let clear = (): void => {};
    this.#end = new Promise((resolve) => {
      const timer = setTimeout(() => resolve("timeout"), Math.max(1, timeoutMs));
      const abort = (): void => resolve("cancelled");
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) abort();
      void job.ended?.then(() => clearTimeout(timer)); // what it left in the background is no part of its time
      void job.exited.then(() => resolve("exited"));
      clear = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
      };
    });
    this.#clear = clear;
  }

  next(): Promise<FollowEnd | "tick"> {
    const tick = new Promise<"tick">((resolve) => {
      this.#tick = setTimeout(() => resolve("tick"), TICK_MS);
    });
    return Promise.race([this.#end, tick]).finally(() => clearTimeout(this.#tick));
  }

  stop(): void {
    this.#clear();
  }
}
