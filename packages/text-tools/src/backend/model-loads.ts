import { AgenticError } from "@shedkit/types";
import { raceAbort } from "./race.js";

/** How far a load is. */
export interface LoadProgress {
  what: "download" | "load";
  bytesDone: number;
  bytesTotal?: number | undefined;
  /** Why this file, or why it is run so: for people. */
  why?: string | undefined;
}

/** How a thing is loaded, and freed again. */
export interface Loader<T> {
  load(name: string, signal: AbortSignal, report: (progress: LoadProgress) => void): Promise<T>;
  dispose(loaded: T): Promise<void>;
}

interface Load<T> {
  promise: Promise<T>;
  /** After the promise: what nobody waits for any more is disposed of. */
  settled: Promise<void>;
  listeners: Set<(progress: LoadProgress) => void>;
  stop: AbortController;
}

/** Loads each model once, whoever asks first; a load that nobody waits for any more is stopped. */
export class ModelLoads<T> {
  readonly #loader: Loader<T>;
  readonly #loads = new Map<string, Load<T>>();
  readonly #ready = new Map<string, T>();

  constructor(loader: Loader<T>) {
    this.#loader = loader;
  }

  ready(name: string): T | undefined {
    return this.#ready.get(name);
  }

  async get(name: string, signal: AbortSignal, listener: (progress: LoadProgress) => void): Promise<T> {
    const ready = this.#ready.get(name);
    if (ready !== undefined) return ready;
    const load = this.#loads.get(name) ?? this.#begin(name);
    load.listeners.add(listener);
    try {
      return await raceAbort(load.promise, signal);
    } finally {
      load.listeners.delete(listener);
      if (load.listeners.size === 0 && this.#loads.get(name) === load) {
        this.#loads.delete(name);
        load.stop.abort(new AgenticError("cancelled", `Nobody waits for ${name} any more.`, {}));
      }
    }
  }

  /**
   * Frees a model that is ready, when `free` says that nothing uses it; the next `get` loads it again. One that loads or
   * is unknown stays as it is.
   */
  async unload(name: string, free: () => Promise<void> = async () => undefined): Promise<void> {
    const model = this.#ready.get(name);
    if (model === undefined) return;
    this.#ready.delete(name);
    await free();
    await this.#loader.dispose(model);
  }

  /** Stops what loads, and frees everything. */
  async clear(): Promise<void> {
    const loads = [...this.#loads.values()];
    const ready = [...this.#ready.values()];
    this.#loads.clear();
    this.#ready.clear();
    for (const load of loads) load.stop.abort(new AgenticError("cancelled", "The provider was closed.", {}));
    await Promise.all([...loads.map((load) => load.settled), ...ready.map((model) => this.#loader.dispose(model))]);
  }

  #begin(name: string): Load<T> {
    const listeners: Load<T>["listeners"] = new Set();
    const stop = new AbortController();
    const promise = this.#loader.load(name, stop.signal, (progress) => {
      for (const listener of listeners) listener(progress);
    });
    const settled = promise.then(
      async (model) => {
        if (this.#loads.get(name) !== load) return await this.#loader.dispose(model);
        this.#loads.delete(name);
        this.#ready.set(name, model);
      },
      () => {
        if (this.#loads.get(name) === load) this.#loads.delete(name); // the next request tries again
      },
    );
    const load: Load<T> = { promise, settled, listeners, stop };
    this.#loads.set(name, load);
    return load;
  }
}
