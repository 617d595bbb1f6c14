import {
  type BehaviorVersion,
  fullId,
  isToolConstructor,
  metadataOf,
  type Reminder,
  type SessionParts,
  type ToolConstructor,
  type ToolImpl,
} from "@shedkit/tool";
import {
  configProblems,
  loadValidator,
  type Scheduler,
  type StateFile,
  type ToolSet,
  type ToolSetBuilder,
  type ToolSetBuildOptions,
  type ToolSetConfig,
  ToolSetError,
  type ToolSetWarning,
} from "@shedkit/toolset";
import { toolName } from "@shedkit/types";
import { type Assembly, assemble, type SourcedTool, type ToolSource } from "./assemble.js";
import { construct, type Entry, nameOf, noSuchCount, noTool } from "./entry.js";
import { ToolCallManager } from "./manager.js";
import type { Beginning } from "./options.js";
import { type ShedProblem, ToolShedError } from "./problems.js";
import { SHED_NAME } from "./shed-tool.js";
import { type CallByNameOptions, USE_TOOL_NAME } from "./use-tool.js";

interface ShedEntry {
  readonly name: string;
  readonly entry: Entry;
  readonly source: ToolSource;
}

interface ShedSettings {
  entries: readonly ShedEntry[];
  reminders: readonly Reminder[];
  reminding: ToolSetBuildOptions["reminders"];
  presets: readonly Parameters<ToolSetBuilder["preset"]>[];
  schedulers: readonly Scheduler[];
  config: ToolSetConfig;
  pinned: readonly string[];
  ordering: boolean;
  strict: boolean;
  callByName: CallByNameOptions | undefined;
  maxActive: number;
}

const EMPTY: ShedSettings = {
  entries: [],
  reminders: [],
  reminding: undefined,
  presets: [],
  schedulers: [],
  config: { tools: [] },
  pinned: [],
  ordering: false,
  strict: false,
  callByName: undefined,
  maxActive: 40,
};

const SOURCES: readonly ToolSource[] = ["own", "external", "remote"];

/** How a shed's tools are made ready. */
export interface ShedBuildOptions {
  /**
   * Where the tools' memories come from and are kept, for tools that are used without a session: an agent's session
   * keeps them in its log. Default: nowhere.
   */
  stateFile?: StateFile | undefined;
}

/**
 * The tools of a session: ready ones and constructors, one per name. Immutable: every method returns a new shed, and
 * one shed may build many sessions.
 */
export class ToolShed {
  #settings: ShedSettings = EMPTY;
  #byName: Map<string, Entry> | undefined;
  /** Where all tools are ready ones, their set is planned once for all sessions. */
  #assembly: Assembly | undefined;
  /** Of those sessions. */
  #beginning: (Beginning & { readonly tools: ToolSet["tools"] }) | undefined;

  /** Adds a tool, or a constructor of one. */
  tool(tool: ToolImpl | ToolConstructor): ToolShed {
    return this.tools([tool]);
  }

  /**
   * Adds several: a preset, an array, any iterable. Tools of another `source` than the program itself give way where
   * their name is taken, or where they may do more than the configuration's `capability` allows; the manager's
   * `warnings` name them. Throws ToolShedError for what is no tool.
   */
  tools(list: Iterable<ToolImpl | ToolConstructor>, source: ToolSource = "own"): ToolShed {
    if (typeof list?.[Symbol.iterator] !== "function") throw noTool(list, "a list of tools");
    const added = Array.from(list, (entry): ShedEntry => ({ name: nameOf(entry), entry, source }));
    return this.#with({ entries: [...this.#settings.entries, ...added] });
  }

  /** Lets a package add what it has: tools, reminders, behaviour presets, schedulers. */
  use(extension: (shed: ToolShed) => ToolShed): ToolShed {
    return extension(this);
  }

  /**
   * Says which tools a session has and how it wants them: names, parameter names, settings, behaviour versions, a
   * capability mode. Replaces an earlier configuration. Default: all tools, as they are.
   */
  configure(config: ToolSetConfig): ToolShed {
    return this.#with({ config });
  }

  /**
   * Adds text that is appended to results when there is something to say. Constructors bring their own (`reminders`):
   * one that is added here goes before one of theirs with the same id.
   */
  reminder(reminder: Reminder): ToolShed {
    return this.#with({ reminders: [...this.#settings.reminders, reminder] });
  }

  /**
   * How reminders are told: their tag, how many bytes they may add to a result, how long they may think; or `false`
   * for none at all, which templates know. Replaces earlier ones.
   */
  reminding(settings: Exclude<ToolSetBuildOptions["reminders"], undefined>): ToolShed {
    return this.#with({ reminding: settings });
  }

  /** Names behaviour versions for many tools at once, by full id; a configuration chooses by `behaviorPreset`. */
  preset(
    name: string,
    versions: { readonly [fullId: string]: string },
    lifecycle?: BehaviorVersion["lifecycle"],
    replacement?: string | undefined,
  ): ToolShed {
    return this.#with({ presets: [...this.#settings.presets, [name, versions, lifecycle, replacement]] });
  }

  /** Has something run in the background of each session, from its build until it ends. */
  scheduler(start: Scheduler): ToolShed {
    return this.#with({ schedulers: [...this.#settings.schedulers, start] });
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

  /**
   * Offers `use_tool { tool_name, tool_input }` beside `shed`: what `shed` finds is called by it, and not declared. So the
   * declarations stay as they are over the whole session, for backends where a new one changes the beginning of the
   * prompt, and for clients that read the list of tools once. Such a call is checked, asked leave for and run as if the
   * tool were called directly. Default: what is found is declared, and called directly.
   */
  callByName(options: CallByNameOptions = {}): ToolShed {
    return this.#with({ callByName: options });
  }

  /** How many tools stay active past a compaction. Default: 40. Throws ToolShedError for what is no number of tools. */
  maxActive(count: number): ToolShed {
    if (!(count >= 0)) throw noSuchCount(count);
    return this.#with({ maxActive: count });
  }

  /** The tool or constructor of that name: the program's own before others, and the first where it was added twice. */
  get(name: string): ToolImpl | ToolConstructor | undefined {
    return this.#index().get(name);
  }

  contains(name: string): boolean {
    return this.#index().has(name);
  }

  /** In the order in which they were added, the program's own first. */
  names(): string[] {
    return [...this.#index().keys()];
  }

  /**
   * Makes the tools of a session: each constructor is called once. Throws ToolShedError, which names every problem of
   * the list at once, or else every problem of the constructors.
   */
  async build(parts: SessionParts, { stateFile }: ShedBuildOptions = {}): Promise<ToolCallManager> {
    const { ordering, strict, callByName, maxActive } = this.#settings;
    const problems = this.#problems();
    if (problems.length > 0) throw new ToolShedError(problems);
    const tools = await this.#construct(parts);
    const { set, warnings } = await this.#configured(tools, parts, stateFile);
    try {
      const beginning = this.#begins(set, tools);
      const validator = await loadValidator();
      const options = { set, warnings, validator, ordering, strict, callByName, maxActive, beginning };
      const manager = new ToolCallManager(parts.sessionId, options);
      if (parts.embedder) await manager.enableDiscovery(parts.embedder);
      return manager;
    } catch (fault) {
      await set.close(); // what runs in the background
      throw fault;
    }
  }

  /** The pinned tools are active; throws ToolShedError for pins that are there no more. The same sets begin the same. */
  #begins(set: ToolSet, tools: readonly SourcedTool[]): Beginning {
    if (this.#beginning?.tools === set.tools) return this.#beginning;
    const leftOut = namesLeftOut(tools, set);
    const pins = this.#settings.pinned.filter((name) => set.get(name) !== undefined || !leftOut.has(name));
    const missing = pins.filter((name) => set.get(name) === undefined);
    if (missing.length > 0) throw new ToolShedError(missing.map((name) => noSuchPin(name, set.names())));
    const beginning = { tools: set.tools, active: new Map(pins.map((name) => [name, "pin" as const])) };
    if (this.#assembly) this.#beginning = beginning;
    return beginning;
  }

  /** Throws ToolShedError, which names every constructor that failed. */
  async #construct(parts: SessionParts): Promise<SourcedTool[]> {
    const problems: ShedProblem[] = [];
    const tools: SourcedTool[] = [];
    for (const { name, entry, source } of this.#settings.entries) {
      const tool = isToolConstructor(entry) ? await construct(entry, parts, problems) : entry;
      if (tool === undefined) continue;
      const built = toolName(tool.definition());
      if (built === name) tools.push({ tool, source });
      else problems.push({ type: "nameMismatch", declared: name, built });
    }
    if (problems.length > 0) throw new ToolShedError(problems);
    return tools;
  }

  /** The tools as the configuration wants them; without one, as they are. */
  async #configured(
    tools: readonly SourcedTool[],
    { resources, sessionId }: SessionParts,
    stateFile: StateFile | undefined,
  ): Promise<{ set: ToolSet; warnings: readonly ToolSetWarning[] }> {
    const assembly = this.#assembly ?? this.#assemble(tools);
    if (this.#settings.entries.every(({ entry }) => !isToolConstructor(entry))) this.#assembly = assembly;
    const { builder, config, warnings } = assembly;
    try {
      const reminders = this.#settings.reminding;
      return { set: await builder.build(config, { resources, sessionId, reminders, stateFile }), warnings };
    } catch (fault) {
      if (!(fault instanceof ToolSetError)) throw fault;
      throw new ToolShedError(fault.problems.map((problem) => ({ type: "configuration", ...problem })));
    }
  }

  #assemble(tools: readonly SourcedTool[]): Assembly {
    const { config, presets, schedulers } = this.#settings;
    const assembly = assemble(tools, config);
    for (const reminder of this.#reminders()) assembly.builder.reminder(reminder);
    for (const preset of presets) assembly.builder.preset(...preset);
    for (const start of schedulers) assembly.builder.scheduler(start);
    return assembly;
  }

  /** Those that were added, and those that constructors bring, of which each id counts once. */
  #reminders(): Reminder[] {
    const { reminders, entries } = this.#settings;
    const all = [...reminders];
    const known = new Set(reminders.map(({ id }) => id));
    for (const { entry, source } of entries) {
      if (source !== "own" || !isToolConstructor(entry)) continue;
      for (const reminder of entry.reminders ?? []) {
        if (!known.has(reminder.id)) all.push(reminder);
        known.add(reminder.id);
      }
    }
    return all;
  }

  #problems(): ShedProblem[] {
    const malformed = configProblems(this.#settings.config);
    if (malformed.length > 0) return malformed.map((problem) => ({ type: "configuration", ...problem }));
    const counts = new Map<string, number>();
    for (const { name, source } of this.#settings.entries)
      counts.set(name, (counts.get(name) ?? 0) + (source === "own" ? 1 : 0));
    const problems: ShedProblem[] = [];
    const renamed = this.#settings.config.tools.some(({ nameOverride }) => nameOverride === USE_TOOL_NAME);
    if (this.#settings.callByName && renamed && !counts.has(USE_TOOL_NAME))
      problems.push({ type: "reservedName", name: USE_TOOL_NAME });
    for (const [name, count] of counts) {
      if (name === SHED_NAME || (this.#settings.callByName && name === USE_TOOL_NAME))
        problems.push({ type: "reservedName", name });
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
      for (const wanted of SOURCES)
        for (const { name, entry, source } of this.#settings.entries)
          if (source === wanted && !this.#byName.has(name)) this.#byName.set(name, entry);
    }
    return this.#byName;
  }

  #with(change: Partial<ShedSettings>): ToolShed {
    const shed = newShed();
    shed.#settings = { ...this.#settings, ...change };
    return shed;
  }
}

/**
 * Here, since the bundler gives another name to a class that speaks of itself: it would stand in what Node prints of
 * it.
 */
function newShed(): ToolShed {
  return new ToolShed();
}

/** Of tools that cannot be used, or gave way: nobody's mistake, so that pins of them are no problem. */
function namesLeftOut(tools: readonly SourcedTool[], set: ToolSet): ReadonlySet<string> {
  const refused = new Set(set.warnings.flatMap(({ category, tool }) => (category === "schema" ? [tool] : [])));
  const leftOut = tools.filter(({ tool, source }) => source !== "own" || refused.has(fullId(metadataOf(tool))));
  return new Set(leftOut.map(({ tool }) => nameOf(tool)));
}

function noSuchPin(name: string, known: readonly string[]): ShedProblem {
  const there = known.length === 0 ? "There are no tools" : `There are ${known.map((each) => `"${each}"`).join(", ")}`;
  const message = `It is pinned, but there is no tool of that name. ${there}.`;
  return { type: "configuration", tool: name, category: "pin", message };
}
