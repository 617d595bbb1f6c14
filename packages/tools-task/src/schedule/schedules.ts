import type { JsonValue } from "@shedkit/types";
import { type Kept, keptIn, nextOf } from "./kept.js";
import { BadTime, nextTime, type When } from "./when.js";

/** Something that is to be done at its time. */
export interface ScheduledPrompt {
  id: string;
  /** What is to be done, as the model wrote it. */
  prompt: string;
  when: When;
  /** Milliseconds since the epoch. */
  next: number;
  /** When it was due last, and why it could not be told, where it could not. */
  last?: number | undefined;
  fault?: string | undefined;
}

/** Where schedules are kept: a `KeyValueStore` of `@shedkit/store` is one. */
export interface ScheduleStore {
  get(key: string): Promise<JsonValue | undefined>;
  set(key: string, value: JsonValue): Promise<unknown>;
}

/** What happens when something is due, and where schedules are kept. */
export interface SchedulesOptions {
  /**
   * Called when something is due, for one after the other; `late` where it was due while nothing ran. What it throws is
   * shown in the list, as long as the schedule is in there.
   */
  due(entry: ScheduledPrompt, info: { late: boolean }): void | Promise<void>;
  /** Where they outlive the program. Default: nowhere. */
  store?: ScheduleStore | undefined;
  /** The key in the store, one for each session. Default: `schedules`. */
  key?: string | undefined;
  /** Of expressions and times that name none, e.g. `Europe/Berlin`. Default: this machine's. */
  timezone?: string | undefined;
  /** Default: the machine's clock. */
  clock?: Clock | undefined;
}

/** What schedules need of the world. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once, after `ms`; returns what cancels it. */
  after(ms: number, callback: () => void): () => void;
}

const MOST = 50;
const LONGEST_MS = 24 * 60 * 60 * 1000; // timers hold 24 days at most
const LATE_MS = 60_000;
const AGAIN_MS = 1000; // after the store failed; each time that it does again twice as long, up to a minute

const machine: Clock = {
  now: () => Date.now(),
  after: (ms, callback) => {
    const timer: unknown = setTimeout(callback, ms);
    // What is to be done tomorrow must not keep the program alive.
    if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function")
      timer.unref();
    return () => clearTimeout(timer as ReturnType<typeof setTimeout>);
  },
};

/**
 * What one session is to do at its time. An occurrence is written down before it is told: one that the program dies over is
 * not told twice. What was due while nothing ran is told once, late.
 */
export class Schedules {
  readonly timezone: string | undefined;
  readonly #options: SchedulesOptions;
  readonly #clock: Clock;
  readonly #key: string;
  #kept: Kept = { count: 0, entries: [] };
  #loaded: Promise<void> | undefined;
  #running = false;
  #cancel: () => void = () => undefined;
  #work: Promise<unknown> = Promise.resolve();
  #telling: Promise<unknown> = Promise.resolve();
  #failures = 0;

  constructor(options: SchedulesOptions) {
    this.#options = options;
    this.#clock = options.clock ?? machine;
    this.#key = options.key ?? "schedules";
    this.timezone = options.timezone;
  }

  /** Begins to tell what is due; first what was due meanwhile. Rejects where the store fails. */
  async start(): Promise<void> {
    await this.#alone(async () => {
      this.#running = true;
    });
    await this.#tick();
  }

  /** Tells nothing any more. What is kept stays; `start` goes on. */
  stop(): void {
    this.#running = false;
    this.#cancel();
  }

  /** In the order in which they were made. */
  async list(): Promise<readonly ScheduledPrompt[]> {
    return this.#alone(async () => structuredClone(this.#kept.entries));
  }

  /** Throws BadTime where it would never be due, or there are too many. */
  async create(prompt: string, when: When): Promise<ScheduledPrompt> {
    const made = await this.#alone(async () => {
      const { count, entries } = this.#kept;
      if (entries.length >= MOST) throw new BadTime(`There are ${MOST} schedules already. Delete one first.`);
      const next = nextTime(when, this.#clock.now());
      if (next === undefined) throw new BadTime("That is in the past, or never: nothing was scheduled.");
      const entry: ScheduledPrompt = { id: `schedule-${count + 1}`, prompt, when, next };
      await this.#keep({ count: count + 1, entries: [...entries, entry] });
      return entry;
    });
    this.#arm();
    return { ...made };
  }

  /** False where there is none of that id. */
  async delete(id: string): Promise<boolean> {
    const found = await this.#alone(async () => {
      const entries = this.#kept.entries.filter((entry) => entry.id !== id);
      if (entries.length === this.#kept.entries.length) return false;
      await this.#keep({ ...this.#kept, entries });
      return true;
    });
    this.#arm();
    return found;
  }

  get now(): number {
    return this.#clock.now();
  }

  /** Changes come one after the other. */
  #alone<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#work.then(async () => {
      this.#loaded ??= this.#load();
      await this.#loaded.catch((error: unknown) => {
        this.#loaded = undefined; // the next may find the store again
        throw error;
      });
      return change();
    });
    this.#work = done.catch(() => undefined);
    return done;
  }

  async #load(): Promise<void> {
    this.#kept = keptIn(await this.#options.store?.get(this.#key));
  }

  async #keep(kept: Kept): Promise<void> {
    await this.#options.store?.set(this.#key, kept as unknown as JsonValue);
    this.#kept = kept;
  }

  #arm(): void {
    this.#cancel();
    if (!this.#running || this.#kept.entries.length === 0) return;
    const next = Math.min(...this.#kept.entries.map((entry) => entry.next));
    const rest = this.#failures === 0 ? 0 : Math.min(60_000, AGAIN_MS * 2 ** (this.#failures - 1));
    const ms = Math.min(Math.max(rest, next - this.#clock.now()), LONGEST_MS);
    this.#cancel = this.#clock.after(ms, () => void this.#tick().catch(() => undefined));
  }

  /** Tells all that is due now, once what was due before has been told. */
  #tick(): Promise<void> {
    const told = this.#telling.then(() => this.#tellDue());
    this.#telling = told.catch(() => undefined);
    return told;
  }

  async #tellDue(): Promise<void> {
    try {
      this.#failures++;
      const due = await this.#alone(() => this.#takeDue());
      this.#failures = 0;
      for (const entry of due) {
        if (!this.#running) return;
        await this.#tell(entry);
      }
    } finally {
      this.#arm();
    }
  }

  async #takeDue(): Promise<ScheduledPrompt[]> {
    const now = this.#clock.now();
    const due = this.#kept.entries.filter(({ next }) => next <= now);
    if (due.length === 0 || !this.#running) return [];
    const entries = this.#kept.entries.flatMap((entry) => {
      if (entry.next > now) return [entry];
      const next = nextOf(entry, now);
      const { fault: _, ...rest } = entry;
      return next === undefined ? [] : [{ ...rest, next, last: now }];
    });
    await this.#keep({ ...this.#kept, entries });
    return due;
  }

  async #tell(entry: ScheduledPrompt): Promise<void> {
    try {
      await this.#options.due({ ...entry }, { late: this.#clock.now() - entry.next > LATE_MS });
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error);
      await this.#alone(async () => {
        const entries = this.#kept.entries.map((one) => (one.id === entry.id ? { ...one, fault } : one));
        await this.#keep({ ...this.#kept, entries });
      });
    }
  }
}
