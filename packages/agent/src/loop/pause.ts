import type { LoopEffects } from "./effects.js";

/** Holds a loop before its next model call or tool calls. */
export class PauseGate {
  #closed: { promise: Promise<void>; open(): void } | undefined;

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  close(): void {
    if (this.#closed) return;
    let open: () => void = () => undefined;
    const promise = new Promise<void>((resolve) => {
      open = resolve;
    });
    this.#closed = { promise, open };
  }

  open(): void {
    this.#closed?.open();
    this.#closed = undefined;
  }

  /** Resolves when the gate is open, or `signal` aborts. */
  async passed(signal: AbortSignal | undefined): Promise<void> {
    while (this.#closed && !signal?.aborted) {
      const { promise } = this.#closed;
      let leave: () => void = () => undefined;
      const aborted = new Promise<void>((resolve) => {
        leave = resolve;
        signal?.addEventListener("abort", leave, { once: true });
      });
      await Promise.race([promise, aborted]);
      signal?.removeEventListener("abort", leave);
    }
  }
}

/** The same effects, held by the gate where it is closed. */
export function gated(effects: LoopEffects, gate: PauseGate): LoopEffects {
  return {
    ...effects,
    async *generate(provider, request) {
      await gate.passed(request.signal);
      yield* effects.generate(provider, request);
    },
    async *runCalls(tools, requests, options) {
      await gate.passed(options.signal);
      yield* effects.runCalls(tools, requests, options);
    },
  };
}
