import {
  type BehaviorVersion,
  evalFreeValidator,
  fullId,
  metadataOf,
  paramsOf,
  type Reminder,
  Resources,
  type SchemaValidator,
  type ToolImpl,
  type ToolKind,
  type ToolMetadata,
  toToolError,
} from "@shedkit/tool";
import type { SessionId } from "@shedkit/types";
import { bindTool } from "./bind.js";
import { prune } from "./config/prune.js";
import { paramNames } from "./config/rename.js";
import { type ToolSetConfig, ToolSetError, type ToolSetProblem, type ToolSetWarning } from "./config/types.js";
import { type PlannedTool, plan, unmetRequirements } from "./config/validate.js";
import { type BehaviorPreset, resolveVersion } from "./config/version.js";
import type { BoundTool } from "./contract.js";
import { manifestOf, type ToolManifest } from "./manifest.js";
import { type ReminderSettings, Reminders } from "./reminders.js";
import { ToolStates } from "./state.js";
import type { StateFile, StateKeeper } from "./state-keeper.js";
import { describeContext, ToolNames } from "./template/context.js";
import { TemplateFault } from "./template/fault.js";
import { renderTemplate } from "./template/render.js";
import { type Scheduler, ToolSet, type ToolSetParts } from "./tool-set.js";
import { loadValidator } from "./validator.js";

/** What a set is built with. */
export interface ToolSetBuildOptions {
  /** What the tools find at run time; their settings and memories are put there. Default: an empty container. */
  resources?: Resources | undefined;
  sessionId?: SessionId | undefined;
  /** Default: {@link loadValidator}. */
  validator?: SchemaValidator | undefined;
  /**
   * False: nothing is appended to results, and templates know it. So it is too where a tool of the set is of a namespace
   * named `concise`, or ending so (`filesConcise`): such tools are for models that are to read little. Default: with their
   * defaults.
   */
  reminders?: Omit<ReminderSettings, "reminders"> | false | undefined;
  /**
   * Where the tools' memories come from, and where they are kept. For a set that is used without a session, which would
   * keep them in its log. What could not be read of it is among the warnings. Default: nowhere.
   */
  stateFile?: StateFile | undefined;
}

/** The part of a set that is the same for every session. */
interface Prepared {
  readonly config: ToolSetConfig;
  readonly validator: SchemaValidator;
  readonly withReminders: boolean;
  /** They are wanted, and no tool is there that goes without. */
  readonly reminding: boolean;
  readonly tools: readonly PlannedTool[];
  readonly bound: readonly BoundTool[];
  readonly warnings: readonly ToolSetWarning[];
  /** The behaviour version of a tool that joins. */
  readonly version: ToolSetParts["version"];
}

/** Collects tools, and makes sets of them as configurations ask. One builder may make many sets. */
export class ToolSetBuilder {
  readonly #tools = new Map<string, ToolImpl>();
  #reminders: readonly Reminder[] = [];
  readonly #presets = new Map<string, BehaviorPreset>();
  readonly #schedulers: Scheduler[] = [];
  /** Of the newest set: a server builds the same one for each of its sessions. */
  #prepared: Prepared | undefined;

  /** Registers a tool; one of the same full id is replaced. */
  tool(tool: ToolImpl): this {
    this.#tools.set(fullId(metadataOf(tool)), tool);
    this.#prepared = undefined;
    return this;
  }

  tools(tools: Iterable<ToolImpl>): this {
    for (const tool of tools) this.tool(tool);
    return this;
  }

  /** Lets a package register what it has: tools, reminders, presets. */
  use(extension: (builder: ToolSetBuilder) => void): this {
    extension(this);
    return this;
  }

  /** Adds a reminder that may follow the call of any tool. */
  reminder(reminder: Reminder): this {
    this.#reminders = [...this.#reminders, reminder];
    return this;
  }

  /** Names behaviour versions for many tools at once. */
  preset(
    name: string,
    versions: { readonly [fullId: string]: string },
    lifecycle: BehaviorVersion["lifecycle"] = "active",
    replacement?: string | undefined,
  ): this {
    this.#presets.set(name, { versions, lifecycle, replacement });
    this.#prepared = undefined;
    return this;
  }

  /** Has something run in the background from the end of {@link build} until the set is closed. */
  scheduler(start: Scheduler): this {
    this.#schedulers.push(start);
    return this;
  }

  has(id: string): boolean {
    return this.#tools.has(id);
  }

  /** The full ids, in the order of registration. */
  ids(): string[] {
    return [...this.#tools.keys()];
  }

  /** The kinds of the registered tools, each once. */
  kinds(): ToolKind[] {
    return [...new Set(Object.values(this.manifest()).map(({ kind }) => kind))];
  }

  /** What is registered, by full id, as JSON: for whoever writes a configuration, or a form for one. */
  manifest(): { readonly [fullId: string]: ToolManifest } {
    return Object.fromEntries(Array.from(this.#tools, ([id, tool]) => [id, manifestOf(tool)]));
  }

  /** All that is wrong with a configuration, of the first phase in which something is. Empty where it can be used. */
  validate(config: ToolSetConfig): readonly ToolSetProblem[] {
    const { tools, problems } = plan(config, this.#tools, this.#presets);
    if (problems.length > 0) return problems;
    const { tools: left } = prune(tools, config.capability ?? "all");
    const unmet = unmetRequirements(left);
    return unmet.length > 0 ? unmet : this.#bind(left, namesOf(left), evalFreeValidator, true).problems;
  }

  /**
   * Makes a set. A configuration object that was used last time is taken to be as it was. Throws {@link ToolSetError},
   * which names every problem of the phase that failed. Rejects where `stateFile` cannot be read at all.
   */
  async build(config: ToolSetConfig = ALL_TOOLS, options: ToolSetBuildOptions = {}): Promise<ToolSet> {
    const validator = options.validator ?? (await loadValidator());
    const prepared = this.#prepare(config, validator, options.reminders !== false);
    this.#prepared = prepared;
    const { tools, bound, warnings, version } = prepared;
    const resources = options.resources ?? new Resources();
    for (const { id, metadata, params } of tools)
      if (metadata.params !== undefined) resources.insert(paramsOf(id), params);
    const metadata = tools.map((tool) => tool.metadata);
    const states = new ToolStates(metadata, resources);
    const keeper = options.stateFile && (await openKeeper(states, options.stateFile));
    const set = new ToolSet({
      tools: bound,
      resources,
      validator,
      sessionId: options.sessionId,
      states,
      keeper,
      version,
      // Even where there are none: tools that join may have their own.
      reminders:
        options.reminders === false || !prepared.reminding
          ? undefined
          : new Reminders({ ...options.reminders, reminders: this.#reminders }),
      capability: config.capability ?? "all",
      warnings: keeper ? [...warnings, ...keeper.warnings] : warnings,
    });
    try {
      set.start(this.#schedulers);
    } catch (fault) {
      await set.close(); // what was started before
      throw fault;
    }
    return set;
  }

  #prepare(config: ToolSetConfig, validator: SchemaValidator, withReminders: boolean): Prepared {
    const last = this.#prepared;
    if (last?.config === config && last.validator === validator && last.withReminders === withReminders) return last;
    const { problems, ...planned } = plan(config, this.#tools, this.#presets);
    if (problems.length > 0) throw new ToolSetError(problems);
    const { tools, warnings } = prune(planned.tools, config.capability ?? "all");
    const unmet = unmetRequirements(tools);
    if (unmet.length > 0) throw new ToolSetError(unmet);
    const reminding = withReminders && !tools.some(isConcise);
    const { bound, refused, problems: unusable } = this.#bind(tools, namesOf(tools), validator, reminding);
    if (unusable.length > 0) throw new ToolSetError(unusable);
    const all = [...planned.warnings, ...warnings, ...refused];
    const preset = config.behaviorPreset === undefined ? undefined : this.#presets.get(config.behaviorPreset);
    const version = (id: string, metadata: ToolMetadata) => resolveVersion(id, metadata, undefined, preset);
    return { config, validator, withReminders, reminding, tools, bound, warnings: all, version };
  }

  /** A tool from elsewhere that is not valid is left out: its maker's fault is no fault of this program. */
  #bind(
    tools: readonly PlannedTool[],
    names: ToolNames,
    validator: SchemaValidator,
    reminders: boolean,
  ): { bound: BoundTool[]; refused: ToolSetWarning[]; problems: ToolSetProblem[] } {
    const problems: ToolSetProblem[] = [];
    const refused: ToolSetWarning[] = [];
    const bound = tools.flatMap((tool) => {
      const context = names.context(tool.params, reminders);
      const describing = describeContext(() => names, tool.params, tool.version);
      try {
        return [
          bindTool(tool.impl, {
            validator,
            name: tool.name,
            paramNames: tool.entry.paramsNameOverrides,
            metadata: tool.metadata,
            version: tool.version,
            params: tool.params,
            input: tool.input,
            description: tool.entry.descriptionOverride ?? tool.metadata.describe?.(describing),
            describeCommand: (command) => tool.metadata.describeCommand?.(command, describing),
            render: (text) => renderTemplate(text, context),
          }),
        ];
      } catch (e) {
        const category = e instanceof TemplateFault ? "description" : "schema";
        const { message: reason } = e instanceof TemplateFault ? e : toToolError(e, tool.name);
        const message = `${reason}${/[.!]$/.test(reason) ? "" : "."}`;
        if (tool.metadata.foreign) refused.push({ tool: tool.id, category: "schema", message });
        else problems.push({ tool: tool.id, category, message });
        return [];
      }
    });
    return { bound, refused, problems };
  }
}

async function openKeeper(states: ToolStates, file: StateFile): Promise<StateKeeper> {
  const { StateKeeper } = await import("./state-keeper.js");
  return StateKeeper.open(states, file);
}

const ALL_TOOLS: ToolSetConfig = { tools: [] };

function isConcise({ metadata }: PlannedTool): boolean {
  return /concise$/i.test(metadata.namespace);
}

function namesOf(tools: readonly PlannedTool[]): ToolNames {
  return new ToolNames(tools.map(plannedName));
}

function plannedName({ kind, metadata, name, inputs, entry }: PlannedTool) {
  const { toClient } = paramNames(entry.paramsNameOverrides ?? {});
  return { kind, id: metadata.id, name, inputs: new Map(inputs.map((canonical) => [canonical, toClient(canonical)])) };
}
