import type { SessionRecord } from "@shedkit/types";
import type { CallState, Next } from "./live-turn.js";

/** Where the loop stands: before a model call, before calls, or at its end. */
interface Arrival {
  readonly index: number;
  readonly next: Next;
  /** Lets the model call go. */
  release(): void;
}

/** Lets the loop of a turn go step by step. One side is the loop, the other whoever holds the steps. */
export class Steps {
  #arrival: Arrival | undefined;
  #count = 0;
  /** The arrival that was told last. */
  #told = -1;
  #failure: Error | undefined;
  /** What runs is being cancelled: calls that wait for leave are about to end. */
  #interrupted = false;
  readonly #permits = new Set<string>();
  readonly #finished = new Set<string>();
  /** By call, the approvals that wait. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #listeners = new Set<() => void>();

  /** Resolves when the model may be asked, or `signal` aborts. */
  async model(signal: AbortSignal | undefined): Promise<void> {
    let released = false;
    this.#arrive({ type: "model" }, () => {
      released = true;
    });
    await this.#until(() => released || signal?.aborted, signal);
  }

  /** The loop is about to run these. */
  calls(calls: { id: string; name: string }[]): void {
    if (calls.length > 0) this.#arrive({ type: "calls", calls });
  }

  /** Resolves when the call may run, or `signal` aborts. */
  async permitted(id: string, signal: AbortSignal | undefined): Promise<void> {
    await this.#until(() => this.#permits.has(id) || signal?.aborted, signal);
  }

  /** The turn is over. */
  end(next: Extract<Next, { type: "done" }>): void {
    this.#arrive(next);
  }

  /** The loop has been told to leave what it is doing. */
  interrupt(): void {
    if (this.#arrival?.next.type !== "done") this.#interrupted = true;
  }

  /** Nothing more can be done here. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#changed();
  }

  /** A record is in the log. */
  take(record: SessionRecord): void {
    if (record.type === "toolFinished") this.#finished.add(record.toolCallId);
    else if (record.type === "approvalRequested") {
      const waiting = this.#waiting.get(record.toolCallId) ?? new Set();
      this.#waiting.set(record.toolCallId, waiting.add(record.approvalId));
    } else if (record.type === "approvalDecided") {
      for (const waiting of this.#waiting.values()) waiting.delete(record.approvalId);
    } else return;
    this.#changed();
  }

  /** Lets the waiting model call go and resolves with where the loop arrives next. */
  async advance(): Promise<Next> {
    let arrival = await this.#arrivalAfter(this.#told);
    if (arrival.next.type === "model") {
      arrival.release();
      arrival = await this.#arrivalAfter(arrival.index);
    }
    // A model call that follows at once is let go by the next step.
    this.#told = arrival.next.type === "model" ? arrival.index - 1 : arrival.index;
    return arrival.next;
  }

  /** Lets a call run and resolves when it is over, or waits for leave. */
  async call(id: string): Promise<CallState> {
    this.#permits.add(id);
    this.#changed();
    return this.#when(() => {
      if (this.#finished.has(id) || this.#arrival?.next.type === "done") return { type: "finished" };
      const [approvalId] = this.#interrupted ? [] : (this.#waiting.get(id) ?? []);
      return approvalId === undefined ? undefined : { type: "waits", approvalId };
    });
  }

  #arrive(next: Next, release: () => void = () => undefined): void {
    const released = () => {
      release();
      this.#changed();
    };
    this.#interrupted = false;
    this.#arrival = { index: this.#count++, next, release: released };
    this.#changed();
  }

  #arrivalAfter(index: number): Promise<Arrival> {
    return this.#when(() => (this.#arrival && this.#arrival.index > index ? this.#arrival : undefined));
  }

  /** Rejects with the failure. */
  async #when<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      if (this.#failure) throw this.#failure;
      const found = look();
      if (found !== undefined) return found;
      await this.#change();
    }
  }

  /** Rejects with the failure, which ends the loop. */
  async #until(reached: () => boolean | undefined, signal: AbortSignal | undefined): Promise<void> {
    while (!reached() && !this.#failure) await this.#change(signal);
    if (this.#failure) throw this.#failure;
  }

  #change(signal?: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#listeners.delete(done);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      this.#listeners.add(done);
      signal?.addEventListener("abort", done, { once: true });
    });
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
