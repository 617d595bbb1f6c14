import { raceAbort } from "@shedkit/text-tools/backend";
import type { LlamaContext, LlamaContextSequence } from "node-llama-cpp";

/** A sequence of the context and what stands in it. */
export interface Slot {
  readonly sequence: LlamaContextSequence;
  /** The text of exactly the tokens that the sequence holds; undefined where that is not known. */
  text: string | undefined;
  sessionId: string | undefined;
  lastUse: number;
}

/** Lends sequences to requests: a session gets its own back, so that what it evaluated before is still there. */
export class SequencePool {
  readonly #context: LlamaContext;
  readonly #free: Slot[] = [];
  readonly #busy = new Set<Slot>();
  readonly #waiting: ((slot: Slot) => void)[] = [];
  readonly #idle: (() => void)[] = [];
  #uses = 0;

  constructor(context: LlamaContext) {
    this.#context = context;
  }

  /**
   * The session's sequence, else an unused one, else the one used longest ago. Waits its turn where all are lent;
   * rejects with the signal's reason when it aborts.
   */
  async acquire(sessionId: string | undefined, signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    const slot = this.#take(sessionId) ?? (await this.#wait(signal));
    if (slot.sessionId !== sessionId) slot.sessionId = sessionId;
    slot.lastUse = ++this.#uses;
    this.#busy.add(slot);
    return slot;
  }

  release(slot: Slot): void {
    this.#busy.delete(slot);
    const next = this.#waiting.shift();
    if (next) next(slot);
    else this.#free.push(slot);
    if (this.#busy.size === 0 && !next) for (const tell of this.#idle.splice(0)) tell();
  }

  /** When every sequence is back. */
  async idle(): Promise<void> {
    if (this.#busy.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #take(sessionId: string | undefined): Slot | undefined {
    const own = sessionId === undefined ? undefined : this.#free.find((slot) => slot.sessionId === sessionId);
    if (own) return this.#remove(own);
    if (this.#context.sequencesLeft > 0) {
      return { sequence: this.#context.getSequence(), text: undefined, sessionId, lastUse: 0 };
    }
    const oldest = this.#free.reduce<Slot | undefined>((a, b) => (a && a.lastUse < b.lastUse ? a : b), undefined);
    return oldest && this.#remove(oldest);
  }

  #remove(slot: Slot): Slot {
    this.#free.splice(this.#free.indexOf(slot), 1);
    return slot;
  }

  async #wait(signal: AbortSignal): Promise<Slot> {
    let give: (slot: Slot) => void = () => undefined;
    const given = new Promise<Slot>((resolve) => {
      give = resolve;
    });
    this.#waiting.push(give);
    try {
      return await raceAbort(given, signal);
    } catch (error) {
      const at = this.#waiting.indexOf(give);
      if (at >= 0) this.#waiting.splice(at, 1);
      else this.release(await given); // it came at the same moment
      throw error;
    }
  }
}
