import { ToolError } from "@shedkit/tool";
import type { BoundTool } from "./contract.js";

/** Lets so many calls of one tool in at once; the others wait their turn. */
export class Gate {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(places: number) {
    this.#free = places;
  }

  get isFull(): boolean {
    return this.#free === 0;
  }

  /** Rejects when the signal aborts first. */
  enter(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(go);
        reject(signal?.reason);
      };
      const go = (): void => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      this.#waiting.add(go);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free++;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}

/** The gates of tools that take so many calls at once. */
export class Gates {
  #gates: WeakMap<BoundTool, Gate> | undefined;

  /**
   * Waits while as many calls of the tool run as it takes at once. Undefined where it takes any number. Throws ToolError
   * `cancelled` when the signal aborts first.
   */
  async enter(tool: BoundTool, signal: AbortSignal | undefined): Promise<Gate | undefined> {
    const { maxConcurrency } = tool.metadata.capabilities;
    if (maxConcurrency === undefined) return undefined;
    this.#gates ??= new WeakMap();
    const gate = this.#gates.get(tool) ?? new Gate(maxConcurrency >= 1 ? Math.floor(maxConcurrency) : 1);
    this.#gates.set(tool, gate);
    try {
      await gate.enter(signal);
    } catch (cause) {
      throw new ToolError("cancelled", tool.name, `${tool.name} was cancelled before it ran.`, { cause });
    }
    return gate;
  }

  /**
   * The same for a call that a running tool makes, where that `holder` has a place itself: it does not wait for another,
   * since two that waited for each other would never go on. Throws ToolError `concurrencyLimit` instead.
   */
  async enterInside(tool: BoundTool, holder: BoundTool | undefined, signal: AbortSignal): Promise<Gate | undefined> {
    if (holder === tool) return undefined; // its own place is enough
    if (holder !== undefined && this.#gates?.get(tool)?.isFull === true) {
      const message = `As many calls of ${tool.name} run as it takes at once, and ${holder.name} cannot wait for it.`;
      throw new ToolError("concurrencyLimit", tool.name, message, { retryable: true });
    }
    return this.enter(tool, signal);
  }
}
