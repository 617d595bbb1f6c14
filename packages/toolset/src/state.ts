import {
  checkState,
  evalFreeValidator,
  fullId,
  type Resources,
  type StateHandle,
  stateOf,
  type ToolMetadata,
} from "@shedkit/tool";
import type { JsonValue } from "@shedkit/types";

/** What a tool remembers, as it goes into a log or a file. */
export interface ToolStateRecord {
  /** The full id of the tool. */
  key: string;
  version: number;
  value: JsonValue;
}

interface Slot {
  readonly state: NonNullable<ToolMetadata["state"]>;
  value: JsonValue;
}

/**
 * The memories of the tools of a set. Values are plain JSON and are not to be changed in place: a tool reads its memory,
 * and sets the next one.
 */
export class ToolStates {
  // Made when they are first needed: most tools remember nothing.
  #slots: Map<string, Slot> | undefined;
  #changed: Set<string> | undefined;
  /** Of tools that are not here now: kept, so that they find it again. */
  #foreign: Map<string, ToolStateRecord> | undefined;
  #listeners: readonly ((key: string) => void)[] = [];

  /** Makes the memory of each tool that has one, and puts it where the tools find it. */
  constructor(tools: Iterable<ToolMetadata>, resources: Resources) {
    for (const metadata of tools) this.add(metadata, resources);
  }

  /** Gives a tool its memory, with what it remembered before if it was here; does nothing for one without. */
  add(metadata: ToolMetadata, resources: Resources): void {
    const { state } = metadata;
    if (state === undefined) return;
    const key = fullId(metadata);
    const kept = this.#slots?.has(key) ? this.#record(key) : this.#foreign?.get(key);
    const slot: Slot = { state, value: state.initial() };
    this.#slots ??= new Map();
    this.#slots.set(key, slot);
    const handle: StateHandle<unknown> = {
      get: () => slot.value,
      set: (value) => {
        checkState(state.schema, key, value);
        this.#put(key, slot, value as JsonValue);
      },
    };
    resources.insert(stateOf(key), handle);
    if (kept !== undefined && this.restore(kept)) this.#foreign?.delete(key);
  }

  /**
   * Puts back what was remembered. A value of another version is first made one of this by the tool's `migrate`. False,
   * and the memory as it was, where there is no way from that version or the value does not fit. What belongs to a tool that
   * is not here is kept for {@link snapshot}.
   */
  restore({ key, version, value }: ToolStateRecord): boolean {
    const slot = this.#slots?.get(key);
    if (slot === undefined) {
      this.#foreign ??= new Map();
      this.#foreign.set(key, { key, version, value });
      return true;
    }
    const { state } = slot;
    const current = version === state.version ? value : migrated(state, value, version);
    if (current === undefined || evalFreeValidator.compile(state.schema)(current).length > 0) return false;
    slot.value = current;
    return true;
  }

  /** The memory of the tool of that full id; undefined where it has none. */
  get(key: string): JsonValue | undefined {
    return this.#slots?.get(key)?.value;
  }

  /** Changes a memory from outside, as the tool would. False where it has none, or the value does not fit. */
  set(key: string, value: JsonValue): boolean {
    const slot = this.#slots?.get(key);
    if (slot === undefined || evalFreeValidator.compile(slot.state.schema)(value).length > 0) return false;
    this.#put(key, slot, value);
    return true;
  }

  #put(key: string, slot: Slot, value: JsonValue): void {
    slot.value = value;
    this.#changed ??= new Set();
    this.#changed.add(key);
    for (const listener of this.#listeners) listener(key);
  }

  /** What has changed since this was last asked: to be stored before the result of the call that changed it. */
  takeChanges(): ToolStateRecord[] {
    if (this.#changed === undefined) return [];
    const changed = Array.from(this.#changed, (key) => this.#record(key));
    this.#changed = undefined;
    return changed;
  }

  /** Calls back at every change, with the full id of the tool; returns the function that ends it. */
  onChange(listener: (key: string) => void): () => void {
    this.#listeners = this.#listeners.concat(listener);
    return () => {
      this.#listeners = this.#listeners.filter((each) => each !== listener);
    };
  }

  /** All of it. */
  snapshot(): ToolStateRecord[] {
    const own = Array.from(this.#slots?.keys() ?? [], (key) => this.#record(key));
    return [...own, ...(this.#foreign?.values() ?? [])];
  }

  #record(key: string): ToolStateRecord {
    const slot = this.#slots?.get(key) as Slot;
    return { key, version: slot.state.version, value: slot.value };
  }
}

function migrated({ migrate }: Slot["state"], value: JsonValue, version: number): JsonValue | undefined {
  try {
    return migrate?.(value, version);
  } catch {
    return undefined;
  }
}
