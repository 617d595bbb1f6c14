import {
  isToolConstructor,
  type Reminder,
  type SessionParts,
  type ToolConstructor,
  type ToolImpl,
} from "@shedkit/tool";
import { toolName } from "@shedkit/types";
import { ToolCallManager } from "./manager.js";
import { type ShedProblem, ToolShedError } from "./problems.js";
import { SHED_NAME } from "./shed-tool.js";

type Entry = ToolImpl | ToolConstructor;

interface ShedSettings {
  entries: readonly (readonly [name: string, entry: Entry])[];
  reminders: readonly Reminder[];
  pinned: readonly string[];
  ordering: boolean;
  strict: boolean;
  maxActive: number;
}

const EMPTY: ShedSettings = {
  entries: [],
  reminders: [],
  pinned: [],
  ordering: false,
  strict: false,
  maxActive: 40,
};

/**
 * The tools of a session: ready ones and constructors, one per name. Immutable: every method returns a new shed, and
 * one shed may build many sessions.
 */
export class ToolShed {
  #settings: ShedSettings = EMPTY;
  #byName: Map<string, Entry> | undefined;

  /** Adds a tool, or a constructor of one. */
  tool(tool: ToolImpl | ToolConstructor): ToolShed {
    return this.tools([tool]);
  }

  /** Adds several: a preset, an array, any iterable. */
  tools(list: Iterable<ToolImpl | ToolConstructor>): ToolShed {
    const added = Array.from(list, (entry) => [nameOf(entry), entry] as const);
    return this.#with({ entries: [...this.#settings.entries, ...added] });
  }

  /** Adds text that is appended to results when there is something to say. */
  reminder(reminder: Reminder): ToolShed {
    return this.#with({ reminders: [...this.#settings.reminders, reminder] });
  }

  /** Declares these tools from the start, without a look-up. Nothing is pinned by default. */
  pin(...names: string[]): ToolShed {
    return this.#with({ pinned: [...this.#settings.pinned, ...names] });
  }

  /** Gives every declared tool an optional `_after`: the positions of the calls of a batch that must come first. */
  ordering(): ToolShed {
    return this.#with({ ordering: true });
  }

  /** Refuses a call of a tool that is not active without activating it. */
  strict(): ToolShed {
    return this.#with({ strict: true });
  }

  /** How many tools stay active past a compaction. Default: 40. */
  maxActive(count: number): ToolShed {
    return this.#with({ maxActive: count });
  }

  /** The tool or constructor of that name: the first, where it was added twice. */
  get(name: string): ToolImpl | ToolConstructor | undefined {
    return this.#index().get(name);
  }

  contains(name: string): boolean {
    return this.#index().has(name);
  }

  /** In the order in which they were added. */
  names(): string[] {
    return [...this.#index().keys()];
  }

  /** Makes the tools of a session. Throws ToolShedError, which names every problem at once. */
  async build(parts: SessionParts): Promise<ToolCallManager> {
    const { entries, pinned, ordering, strict, maxActive } = this.#settings;
    const problems = this.#problems();
    const tools: ToolImpl[] = [];
    if (problems.length === 0) {
      for (const [name, entry] of entries) {
        const tool = isToolConstructor(entry) ? await entry.construct(parts) : entry;
        const built = toolName(tool.definition());
        if (built === name) tools.push(tool);
        else problems.push({ type: "nameMismatch", declared: name, built });
      }
    }
    if (problems.length > 0) throw new ToolShedError(problems);
    const manager = new ToolCallManager(parts.sessionId, {
      resources: parts.resources,
      ordering,
      strict,
      maxActive,
    });
    for (const tool of tools) manager.register(tool);
    if (parts.embedder) await manager.enableDiscovery(parts.embedder);
    manager.activate(pinned, "pin");
    return manager;
  }

  #problems(): ShedProblem[] {
    const seen = new Set<string>();
    const doubled = new Set<string>();
    const problems: ShedProblem[] = [];
    for (const [name] of this.#settings.entries) {
      if (name === SHED_NAME) problems.push({ type: "reservedName", name });
      else if (seen.has(name) && !doubled.has(name)) {
        doubled.add(name);
        problems.push({ type: "duplicateTool", name });
      }
      seen.add(name);
    }
    return problems;
  }

  #index(): Map<string, Entry> {
    if (this.#byName === undefined) {
      this.#byName = new Map();
      for (const [name, entry] of this.#settings.entries) if (!this.#byName.has(name)) this.#byName.set(name, entry);
    }
    return this.#byName;
  }

  #with(change: Partial<ShedSettings>): ToolShed {
    const shed = new ToolShed();
    shed.#settings = { ...this.#settings, ...change };
    return shed;
  }
}

function nameOf(entry: Entry): string {
  return isToolConstructor(entry) ? entry.name : toolName(entry.definition());
}
