import { paramsOf, Resources, type SchemaValidator, ToolError, type ToolImpl, type ToolMetadata } from "@shedkit/tool";
import { type JsonValue, toolName } from "@shedkit/types";
import { bindTool } from "./bind.js";
import { allows, type CapabilityMode } from "./config/capability.js";
import { parametersOf } from "./config/rename.js";
import type { ToolSetWarning } from "./config/types.js";
import type { ResolvedVersion } from "./config/version.js";
import type { BoundTool } from "./contract.js";
import { isExternalName } from "./external.js";
import { lateBinding } from "./late.js";
import type { RequiredTool } from "./requirement.js";
import { ToolStates } from "./state.js";
import { type NamedTool, namedTool, ToolNames } from "./template/context.js";
import { TemplateFault } from "./template/fault.js";
import { renderTemplate, stripTemplate } from "./template/render.js";

/** Settings of a {@link ToolRegistry}. */
export interface RegistryOptions {
  /** Those it begins with. Default: none. */
  tools?: readonly BoundTool[] | undefined;
  /** Where tools find their settings and memories. Default: an empty container. */
  resources?: Resources | undefined;
  /** The memories of `tools`. Default: none. */
  states?: ToolStates | undefined;
  /** Default: the eval-free one. */
  validator?: SchemaValidator | undefined;
  /** What the tools may do: one that may do more is refused. Default: `all`. */
  capability?: CapabilityMode | undefined;
  /** Whether descriptions may promise reminders. Default: true. */
  reminders?: boolean | undefined;
  /** The behaviour version that a tool has which joins. Default: its current one. */
  version?: ((id: string, metadata: ToolMetadata) => ResolvedVersion) | undefined;
}

/** The tools that can be called: those of a set to begin with, and those that come and go at run time. */
export class ToolRegistry {
  readonly resources: Resources;
  /** Those it began with, and its own since one came or went. */
  readonly #first: ReadonlyMap<string, BoundTool>;
  #own: Map<string, BoundTool> | undefined;
  readonly #options: RegistryOptions;
  #warnings: Map<string, ToolSetWarning> | undefined;
  #states: ToolStates | undefined;
  #byKind: ToolNames | undefined;
  #required: readonly RequiredTool[] | undefined;
  /** What tools that are there exclude, by full id, and one that does. */
  #excluded: Map<string, string> | undefined;

  constructor(options: RegistryOptions = {}) {
    this.#options = options;
    this.resources = options.resources ?? new Resources();
    this.#first = byName(options.tools ?? NONE);
    this.#states = options.states;
  }

  get #tools(): ReadonlyMap<string, BoundTool> {
    return this.#own ?? this.#first;
  }

  /** The tool of that client name. */
  find(name: string): BoundTool | undefined {
    return this.#tools.get(name);
  }

  /**
   * Adds a tool: its settings are its defaults, its description is filled in with the names of the tools that are there,
   * and what it remembered before it was taken out it still does.
   *
   * Throws ToolError `invalidArguments` where its name is taken or none that wires take, a schema or its description is
   * not valid, or a tool is there that it cannot be beside; `behaviorVersion` where the version that it would have goes
   * away; `permissionDenied` where it may do more than the set may.
   */
  register(tool: ToolImpl): BoundTool {
    const name = toolName(tool.definition());
    if (this.find(name) !== undefined) {
      const message = `There is a tool named "${name}" already. Give this one another name, or take the other out.`;
      throw new ToolError("invalidArguments", name, message);
    }
    let warning: ToolSetWarning | undefined;
    const bound = this.#bind(tool, name, (told) => {
      warning = told;
    });
    this.#assertAllowed(bound);
    this.#assertBesideOthers(bound);
    this.#own ??= new Map(this.#first);
    this.#own.set(name, bound);
    if (bound.metadata.conflicts?.length) this.#excluded = undefined;
    if (warning !== undefined) {
      this.#warnings ??= new Map();
      this.#warnings.set(name, warning);
    }
    this.#changed();
    this.#equip(bound);
    return bound;
  }

  #bind(tool: ToolImpl, name: string, warn: (warning: ToolSetWarning) => void): BoundTool {
    const { validator, reminders = true, version } = this.#options;
    try {
      const options = lateBinding(tool, { others: () => this.#named(), reminders, version, warn });
      return bindTool(tool, { ...options, validator });
    } catch (cause) {
      if (!(cause instanceof TemplateFault)) throw cause;
      const message = `The tool "${name}" cannot be used: its description cannot be filled in. ${cause.message}`;
      throw new ToolError("invalidArguments", name, message, { cause });
    }
  }

  #assertAllowed({ name, metadata }: BoundTool): void {
    const { capability = "all" } = this.#options;
    if (allows(capability, metadata)) return;
    const message = `The tool "${name}" (of kind "${metadata.kind}") may do more than "${capability}" allows.`;
    throw new ToolError("permissionDenied", name, message);
  }

  #assertBesideOthers(bound: BoundTool): void {
    this.#excluded ??= new Map(
      [...this.#tools.values()].flatMap((tool) => excludedBy(tool).map((id) => [id, tool.name])),
    );
    const own = excludedBy(bound);
    const other =
      this.#excluded.get(bound.id) ??
      (own.length === 0 ? undefined : [...this.#tools.values()].find(({ id }) => own.includes(id))?.name);
    if (other === undefined) return;
    const message = `The tool "${bound.name}" cannot be beside "${other}". Take "${other}" out first, or leave this one out.`;
    throw new ToolError("invalidArguments", bound.name, message);
  }

  /** Puts its settings and its memory where it finds them. */
  #equip({ id, params, metadata }: BoundTool): void {
    if (metadata.params !== undefined && params !== undefined) this.resources.insert(paramsOf(id), params);
    if (metadata.state === undefined) return;
    this.#states ??= new ToolStates([], this.resources);
    this.#states.add(metadata, this.resources);
  }

  /** Takes out a tool; the set it came from still has it. False where there is none of that name. */
  unregister(name: string): boolean {
    const gone = this.find(name);
    if (gone === undefined) return false;
    this.#own ??= new Map(this.#first);
    this.#own.delete(name);
    if (gone.metadata.conflicts?.length) this.#excluded = undefined;
    this.#warnings?.delete(name);
    this.#changed();
    return true;
  }

  /** Takes out the tools whose names begin so; returns how many. */
  unregisterByPrefix(prefix: string): number {
    const names = this.names().filter((name) => name.startsWith(prefix));
    for (const name of names) this.unregister(name);
    return names.length;
  }

  /** In the order of the set, then of registration; `external` asks for those of servers alone, or for the others. */
  names(which: { external?: boolean | undefined } = {}): string[] {
    const all = [...this.#tools.keys()];
    return which.external === undefined ? all : all.filter((name) => isExternalName(name) === which.external);
  }

  /** The names of the tools by kind, as they are now. */
  get byKind(): ToolNames {
    this.#byKind ??= new ToolNames(this.#named());
    return this.#byKind;
  }

  /** What requirements look at, as it is now. */
  get required(): readonly RequiredTool[] {
    this.#required ??= Array.from(this.#tools.values(), requiredTool);
    return this.#required;
  }

  /**
   * Fills the names of the tools into a text; see {@link renderTemplate}. A text that cannot be filled in comes back
   * without its markers, and `onFault` hears why.
   */
  renderPrompt(template: string, extra: { [key: string]: JsonValue } = {}, onFault?: (reason: string) => void): string {
    try {
      return renderTemplate(template, this.byKind.context({}, this.#options.reminders ?? true, extra));
    } catch (e) {
      onFault?.(e instanceof Error ? e.message : String(e));
      return stripTemplate(template);
    }
  }

  /** What works of the tools that joined, but should be known. */
  get warnings(): readonly ToolSetWarning[] {
    return [...(this.#warnings?.values() ?? [])];
  }

  /** What the tools remember. Undefined where no tool remembers anything. */
  get states(): ToolStates | undefined {
    return this.#states;
  }

  *#named(): Generator<NamedTool> {
    for (const tool of this.#tools.values()) yield namedTool(tool);
  }

  #changed(): void {
    this.#byKind = undefined;
    this.#required = undefined;
  }
}

const NONE: readonly BoundTool[] = [];
/** Lists of tools by their names: one for all registries that begin with a list. */
const named = new WeakMap<readonly BoundTool[], ReadonlyMap<string, BoundTool>>();

function byName(tools: readonly BoundTool[]): ReadonlyMap<string, BoundTool> {
  const known = named.get(tools);
  if (known) return known;
  const map = new Map(tools.map((tool) => [tool.name, tool]));
  named.set(tools, map);
  return map;
}

function requiredTool({ id, metadata, params, impl }: BoundTool): RequiredTool {
  return { id, kind: metadata.kind, params: params ?? null, inputs: parametersOf(impl.definition()) };
}

/** The full ids of what a tool cannot be beside. */
function excludedBy({ id, metadata }: BoundTool): readonly string[] {
  return (metadata.conflicts ?? [])
    .map((other) => (other.includes(":") ? other : `${metadata.namespace}:${other}`))
    .filter((full) => full !== id);
}
