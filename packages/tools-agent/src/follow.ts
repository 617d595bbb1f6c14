import type { ChildAgent, ChildStatus } from "@shedkit/types";

/** How a sub-agent stands each time that changes, for at most `ms`, until it has ended or is held. */
export async function* follow(
  child: ChildAgent,
  ms: number,
  signal: AbortSignal,
): AsyncGenerator<Extract<ChildStatus, { type: "running" }>, void, void> {
  let wake: () => void = () => undefined;
  let [changed, over] = [true, ms <= 0];
  const unwatch = child.watch(() => {
    changed = true;
    wake();
  });
  const stop = () => {
    over = true;
    wake();
  };
  const timer = setTimeout(stop, ms);
  signal.addEventListener("abort", stop, { once: true });
  try {
    while (!over) {
      signal.throwIfAborted();
      const status = child.status();
      if (status.type !== "running") return;
      if (changed) {
        changed = false;
        yield status;
        continue;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    signal.throwIfAborted();
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    unwatch();
  }
}
