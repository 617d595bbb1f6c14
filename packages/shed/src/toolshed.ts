import {
  fullId,
  isToolConstructor,
  metadataOf,
  type Reminder,
  type SessionParts,
  type ToolConstructor,
  type ToolImpl,
  toToolError,
} from "@shedkit/tool";
import { loadValidator, type ToolSet, ToolSetBuilder, type ToolSetConfig, ToolSetError } from "@shedkit/toolset";
import { toolName } from "@shedkit/types";
import { ToolCallManager } from "./manager.js";
import { type ShedProblem, ToolShedError } from "./problems.js";
import { SHED_NAME } from "./shed-tool.js";

type Entry = ToolImpl | ToolConstructor;

interface ShedSettings {
  entries: readonly (readonly [name: string, entry: Entry])[];
  reminders: readonly Reminder[];
  config: ToolSetConfig;
  pinned: readonly string[];
  ordering: boolean;
  strict: boolean;
  maxActive: number;
}

const EMPTY: ShedSettings = {
  entries: [],
  reminders: [],
  config: { tools: [] },
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
  /** Where all tools are ready ones, their set is planned once for all sessions. */
  #builder: ToolSetBuilder | undefined;

  /** Adds a tool, or a constructor of one. */
  tool(tool: ToolImpl | ToolConstructor): ToolShed {
    return this.tools([tool]);
  }

  /** Adds several: a preset, an array, any iterable. */
  tools(list: Iterable<ToolImpl | ToolConstructor>): ToolShed {
    const added = Array.from(list, (entry) => [nameOf(entry), entry] as const);
    return this.#with({ entries: [...this.#settings.entries, ...added] });
  }

  /**
   * Says which tools a session has and how it wants them: names, parameter names, settings, behaviour versions, a
   * capability mode. Replaces an earlier configuration. Default: all tools, as they are.
   */
  configure(config: ToolSetConfig): ToolShed {
    return this.#with({ config });
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
    const set = await this.#configured(tools, parts);
    const manager = new ToolCallManager(parts.sessionId, {
      set,
      validator: await loadValidator(),
      ordering,
      strict,
      maxActive,
    });
    const refused = new Set(set.warnings.flatMap(({ category, tool }) => (category === "schema" ? [tool] : [])));
    const leftOut = new Set(tools.flatMap((tool) => (refused.has(fullId(metadataOf(tool))) ? [nameOf(tool)] : [])));
    const pins = pinned.filter((name) => manager.get(name) !== undefined || !leftOut.has(name));
    for (const name of pins) if (manager.get(name) === undefined) problems.push(noSuchPin(name, manager.names()));
    if (problems.length > 0) throw new ToolShedError(problems);
    if (parts.embedder) await manager.enableDiscovery(parts.embedder);
    manager.activate(pins, "pin");
    return manager;
  }

  /** The tools as the configuration wants them; without one, as they are. */
  async #configured(tools: readonly ToolImpl[], { resources, sessionId }: SessionParts): Promise<ToolSet> {
    const { config } = this.#settings;
    const builder = this.#builder ?? this.#newBuilder(tools);
    if (this.#settings.entries.every(([, entry]) => !isToolConstructor(entry))) this.#builder = builder;
    try {
      return await builder.build(config, { resources, sessionId });
    } catch (fault) {
      if (!(fault instanceof ToolSetError)) throw fault;
      throw new ToolShedError(fault.problems.map((problem) => ({ type: "configuration", ...problem })));
    }
  }

  #newBuilder(tools: readonly ToolImpl[]): ToolSetBuilder {
    const problems = sameIds(tools);
    if (problems.length > 0) throw new ToolShedError(problems);
    const builder = new ToolSetBuilder().tools(tools);
    for (const reminder of this.#settings.reminders) builder.reminder(reminder);
    return builder;
  }

  #problems(): ShedProblem[] {
    const counts = new Map<string, number>();
    for (const [name] of this.#settings.entries) counts.set(name, (counts.get(name) ?? 0) + 1);
    const problems: ShedProblem[] = [];
    for (const [name, count] of counts) {
      if (name === SHED_NAME) problems.push({ type: "reservedName", name });
      else if (count > 1) problems.push({ type: "duplicateTool", name });
    }
    const names = new Set(this.#settings.config.tools.flatMap(({ nameOverride }) => nameOverride ?? []));
    for (const name of counts.keys()) if (name !== SHED_NAME) names.add(name);
    for (const name of this.#settings.pinned) if (!names.has(name)) problems.push(noSuchPin(name, [...names]));
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

/** Tools of one full id would replace each other. */
function sameIds(tools: readonly ToolImpl[]): ShedProblem[] {
  const names = new Map<string, string[]>();
  for (const tool of tools) {
    const id = fullId(metadataOf(tool));
    names.set(id, [...(names.get(id) ?? []), toolName(tool.definition())]);
  }
  return Array.from(names).flatMap(([id, same]): ShedProblem[] => {
    if (same.length === 1) return [];
    const message = `The tools ${same.map((name) => `"${name}"`).join(", ")} have this id. Ids must be unique.`;
    return [{ type: "configuration", tool: id, category: "duplicate_id", message }];
  });
}

function noSuchPin(name: string, known: readonly string[]): ShedProblem {
  const there = known.length === 0 ? "There are no tools" : `There are ${known.map((each) => `"${each}"`).join(", ")}`;
  const message = `It is pinned, but there is no tool of that name. ${there}.`;
  return { type: "configuration", tool: name, category: "pin", message };
}

async function construct(
  entry: ToolConstructor,
  parts: SessionParts,
  problems: ShedProblem[],
): Promise<ToolImpl | undefined> {
  try {
    return await entry.construct(parts);
  } catch (fault) {
    const message = `The constructor failed: ${toToolError(fault, entry.name).message}`;
    problems.push({ type: "configuration", tool: entry.name, category: "construct", message });
    return undefined;
  }
}
