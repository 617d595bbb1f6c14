import type { JsonValue } from "@shedkit/types";
import type { ToolSetWarning } from "./config/types.js";
import type { ToolStateRecord, ToolStates } from "./state.js";

/** Where memories are kept; {@link stateFile} makes one of a file. */
export interface StateFile {
  /** Undefined where there is none. */
  read(): Promise<string | undefined>;
  /** Must put all of the text there or none of it. */
  write(text: string): Promise<void>;
  /** Copies what is there to another place, byte for byte, before it is written over; returns where that is. */
  setAside(): Promise<string>;
}

/** How memories are written to their file. */
export interface StateKeeperOptions {
  /** How long after a change it is written, in milliseconds, so that many changes make one write. Default: 500. */
  delayMs?: number | undefined;
}

const FORMAT = 1;
const DELAY_MS = 500;

/**
 * Keeps the memories of tools in a file, for tools that are used without a session. Changes are written a little later,
 * whatever became of the call that made them; one write runs at a time, and of those that wait only the newest is done.
 */
export class StateKeeper {
  /** What could not be read, and where its copy is. */
  readonly warnings: readonly ToolSetWarning[];
  readonly #states: ToolStates;
  readonly #file: StateFile;
  readonly #delayMs: number;
  readonly #stopListening: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #changed = false;
  #writing: Promise<void> | undefined;

  private constructor(
    states: ToolStates,
    file: StateFile,
    { delayMs = DELAY_MS }: StateKeeperOptions,
    warnings: readonly ToolSetWarning[],
  ) {
    this.#states = states;
    this.#file = file;
    this.#delayMs = delayMs;
    this.warnings = warnings;
    this.#stopListening = states.onChange(() => this.#soon());
  }

  /**
   * Reads the file into the memories. A file that is missing starts empty; so does one that cannot be understood, and a
   * value that does not fit is left out: then a copy is put aside first, and the warnings say where. Rejects where the
   * file cannot be read at all.
   */
  static async open(states: ToolStates, file: StateFile, options: StateKeeperOptions = {}): Promise<StateKeeper> {
    const text = await file.read();
    const records = text === undefined ? [] : readRecords(text);
    const skipped = records?.filter((record) => !states.restore(record)) ?? [];
    const warnings: ToolSetWarning[] = [];
    if (records === undefined || skipped.length > 0) {
      const kept = `It is kept as ${await file.setAside()}.`;
      const add = (tool: string, message: string) =>
        warnings.push({ tool, category: "state", message: `${message} ${kept}` });
      if (records === undefined) add("(global)", "The file of what tools remember could not be understood.");
      for (const { key, version } of skipped)
        add(key, `What it remembered (in format ${version}) does not fit it any more.`);
    }
    return new StateKeeper(states, file, options, warnings);
  }

  /** Writes what has changed, and waits for it. Rejects where that fails; it is tried again with the next change. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#changed || this.#writing !== undefined) {
      this.#writing ??= this.#write().finally(() => {
        this.#writing = undefined;
      });
      await this.#writing;
    }
  }

  /** Writes what has changed, and hears of no more changes. */
  async close(): Promise<void> {
    this.#stopListening();
    await this.flush();
  }

  #soon(): void {
    this.#changed = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.flush().catch(() => {}); // who flushes or closes is told
    }, this.#delayMs);
  }

  async #write(): Promise<void> {
    this.#changed = false;
    try {
      const entries = this.#states.snapshot().map(({ key, version, value }) => [key, { version, value }]);
      await this.#file.write(
        `${JSON.stringify({ format: FORMAT, state: Object.fromEntries(entries) }, undefined, 2)}\n`,
      );
    } catch (fault) {
      this.#changed = true;
      throw fault;
    }
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
  if (format !== FORMAT || typeof state !== "object" || state === null || Array.isArray(state)) return undefined;
  const records: ToolStateRecord[] = [];
  for (const [key, entry] of Object.entries(state)) {
    const { version, value } = (entry ?? {}) as { version?: unknown; value?: unknown };
    if (typeof version !== "number" || value === undefined) return undefined;
    records.push({ key, version, value: value as JsonValue });
  }
  return records;
}
