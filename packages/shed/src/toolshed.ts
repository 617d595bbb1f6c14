import {
  isToolConstructor,
  type Reminder,
  type SessionParts,
  type ToolConstructor,
  type ToolImpl,
  toToolError,
} from "@shedkit/tool";
import { loadValidator } from "@shedkit/toolset";
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

  /**
   * Makes the tools of a session: each constructor is called once. Throws ToolShedError, which names every problem of
   * the list at once, or else every problem of the constructors.
   */
  async build(parts: SessionParts): Promise<ToolCallManager> {
    const { entries, pinned, ordering, strict, maxActive } = this.#settings;
    const problems = this.#problems();
    if (problems.length > 0) throw new ToolShedError(problems);
    const tools: ToolImpl[] = [];
    for (const [name, entry] of entries) {
      const tool = isToolConstructor(entry) ? await construct(entry, parts, problems) : entry;
      if (tool === undefined) continue;
      const built = toolName(tool.definition());
      if (built === name) tools.push(tool);
      else problems.push({ type: "nameMismatch", declared: name, built });
    }
    if (problems.length > 0) throw new ToolShedError(problems);
    const manager = new ToolCallManager(parts.sessionId, {
      resources: parts.resources,
      validator: await loadValidator(),
      ordering,
      strict,
      maxActive,
    });
    for (const tool of tools) register(manager, tool, problems);
    if (problems.length > 0) throw new ToolShedError(problems);
    if (parts.embedder) await manager.enableDiscovery(parts.embedder);
    manager.activate(pinned, "pin");
    return manager;
  }

  #problems(): ShedProblem[] {
    const counts = new Map<string, number>();
    for (const [name] of this.#settings.entries) counts.set(name, (counts.get(name) ?? 0) + 1);
    const problems: ShedProblem[] = [];
    for (const [name, count] of counts) {
      if (name === SHED_NAME) problems.push({ type: "reservedName", name });
      else if (count > 1) problems.push({ type: "duplicateTool", name });
    }
    const known = Array.from(counts.keys(), (name) => `"${name}"`).filter((name) => name !== `"${SHED_NAME}"`);
    for (const name of this.#settings.pinned) {
      if (counts.has(name)) continue;
      const message = `It is pinned, but there is no tool of that name. There are ${known.join(", ")}.`;
      problems.push({ type: "configuration", tool: name, category: "pin", message });
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

/** A schema that is not valid shows here. */
function register(manager: ToolCallManager, tool: ToolImpl, problems: ShedProblem[]): void {
  try {
    manager.register(tool);
  } catch (fault) {
    const name = toolName(tool.definition());
    const { message } = toToolError(fault, name);
    problems.push({ type: "configuration", tool: name, category: "schema", message });
  }
}

async function construct(
  entry: ToolConstructor,
  parts: SessionParts,
  problems: ShedProblem[],
): Promise<ToolImpl | undefined> {
  try {
    return await entry.construct(parts);
  } catch (fault) {
    const message = `Its constructor failed: ${toToolError(fault, entry.name).message}`;
    problems.push({ type: "configuration", tool: entry.name, category: "construct", message });
    return undefined;
  }
}
