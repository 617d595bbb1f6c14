import type { JsonValue } from "@shedkit/types";
import type { ToolStateRecord, ToolStates } from "./state.js";

/** Where the file is. `write` must put all of the text there or none of it. */
export interface StateFile {
  /** Undefined where there is none. */
  read(): Promise<string | undefined>;
  write(text: string): Promise<void>;
  /** Puts a file aside that cannot be read, instead of losing it. */
  setAside?(text: string): Promise<void>;
}

/** A file name for a session: no two sessions share one, and none leads out of its folder. */
export function stateFileName(session: string): string {
  let hash = 0xcbf29ce484222325n; // FNV-1a, 64 bits
  for (const byte of new TextEncoder().encode(session))
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  const clean = session.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 80);
  return `${clean}-${hash.toString(36)}.json`;
}

const FORMAT = 1;

/**
 * Keeps the memories of tools in a file, for a set that is used without a session. One write runs at a time, and of
 * those that wait only the newest is done.
 */
export class StateKeeper {
  readonly #states: ToolStates;
  readonly #file: StateFile;
  #writing: Promise<void> | undefined;
  #again = false;

  private constructor(states: ToolStates, file: StateFile) {
    this.#states = states;
    this.#file = file;
  }

  /**
   * Reads the file into the memories. A file that is missing or is no such file starts empty (it is put aside); a value
   * that does not fit is left out, and its key named in `skipped`.
   */
  static async open(states: ToolStates, file: StateFile): Promise<{ keeper: StateKeeper; skipped: readonly string[] }> {
    const text = await file.read();
    const skipped: string[] = [];
    if (text !== undefined) {
      const records = readRecords(text);
      if (records === undefined) await file.setAside?.(text);
      for (const record of records ?? []) if (!states.restore(record)) skipped.push(record.key);
    }
    return { keeper: new StateKeeper(states, file), skipped };
  }

  /** Has the memories written as they are now. Rejects where the write fails; the next one tries again. */
  save(): Promise<void> {
    if (this.#writing !== undefined) {
      this.#again = true;
      return this.#writing;
    }
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #write(): Promise<void> {
    do {
      this.#again = false;
      const state = Object.fromEntries(
        this.#states.snapshot().map(({ key, version, value }) => [key, { version, value }]),
      );
      await this.#file.write(`${JSON.stringify({ format: FORMAT, state }, null, 2)}\n`);
    } while (this.#again);
  }
}

function readRecords(text: string): ToolStateRecord[] | undefined {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { format, state } = (file ?? {}) as { format?: unknown; state?: unknown };
  if (format !== FORMAT || typeof state !== "object" || state === null) return undefined;
  return Object.entries(state).flatMap(([key, entry]) => {
    const { version, value } = (entry ?? {}) as { version?: unknown; value?: unknown };
    return typeof version === "number" && value !== undefined ? [{ key, version, value: value as JsonValue }] : [];
  });
}
