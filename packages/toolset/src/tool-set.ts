import type { ListContext, Resources, SchemaValidator, ToolImpl, ToolKind } from "@shedkit/tool";
import type { JsonValue, SessionId, Tool } from "@shedkit/types";
import type { CapabilityMode } from "./config/capability.js";
import type { ToolSetWarning } from "./config/types.js";
import type { BoundTool } from "./contract.js";
import { Dispatcher, type DispatcherOptions } from "./dispatcher.js";
import { type RegistryOptions, ToolRegistry } from "./registry.js";
import type { Reminders } from "./reminders.js";
import type { ToolStates } from "./state.js";
import type { StateKeeper } from "./state-keeper.js";

/** Runs in the background while a set is in use. Returns what ends it. */
export type Scheduler = (set: ToolSet) => (() => void | Promise<void>) | undefined;

/** What a {@link ToolSet} is made of. */
export interface ToolSetParts {
  readonly tools: readonly BoundTool[];
  readonly resources: Resources;
  readonly validator: SchemaValidator;
  readonly states: ToolStates;
  readonly keeper?: StateKeeper | undefined;
  readonly reminders: Reminders | undefined;
  readonly warnings: readonly ToolSetWarning[];
  /** What tools that join at run time may do. */
  readonly capability: CapabilityMode;
  /** The behaviour versions of tools that join at run time. */
  readonly version: NonNullable<RegistryOptions["version"]>;
  readonly sessionId?: SessionId | undefined;
}

/** Where a dispatcher of a set looks beside the set. */
export interface SetDispatcherOptions extends Pick<DispatcherOptions, "onNotify"> {
  /** Where calls find their tools. Default: those of the set. */
  tools?: ToolRegistry | undefined;
  /** Finds more than `tools` has. Default: nothing. */
  find?: DispatcherOptions["find"];
}

/** Tools as one client wants them: checked, named, described, ready for calls. Immutable. */
export class ToolSet {
  /** In the order of the configuration. */
  readonly tools: readonly BoundTool[];
  readonly resources: Resources;
  /** What the tools remember. */
  readonly states: ToolStates;
  /** What was left out, and what is old. */
  readonly warnings: readonly ToolSetWarning[];
  readonly #parts: ToolSetParts;
  #registry: ToolRegistry | undefined;
  readonly #stops: (() => void | Promise<void>)[] = [];

  constructor(parts: ToolSetParts) {
    this.#parts = parts;
    this.tools = parts.tools;
    this.resources = parts.resources;
    this.states = parts.states;
    this.warnings = parts.warnings;
  }

  /** Nothing is ever added to it. */
  get #own(): ToolRegistry {
    this.#registry ??= this.registry();
    return this.#registry;
  }

  /** The tool of that client name. */
  get(name: string): BoundTool | undefined {
    return this.#own.find(name);
  }

  /** The client names, in order. */
  names(): string[] {
    return this.#own.names();
  }

  /** What the model is told; with a context, of the tools that want to be listed now. */
  definitions(list?: ListContext | undefined): Tool[] {
    return this.tools
      .filter(({ metadata }) => list === undefined || (metadata.shouldList?.(list) ?? true))
      .map(({ definition }) => definition);
  }

  /** The client name of the first tool of that kind. */
  toolForKind(kind: ToolKind): string | undefined {
    return this.#own.byKind.tool(kind);
  }

  /** The client name of a parameter of that kind's tools. */
  paramForKind(kind: ToolKind, canonical: string): string | undefined {
    return this.#own.byKind.param(kind, canonical);
  }

  /**
   * Fills the names of tools into a text; see {@link renderTemplate}. A text that cannot be filled in comes back
   * without its markers, and `onFault` hears why.
   */
  renderPrompt(template: string, extra: { [key: string]: JsonValue } = {}, onFault?: (reason: string) => void): string {
    return this.#own.renderPrompt(template, extra, onFault);
  }

  /** These tools, and room for tools that come and go. Each registry has its own. */
  registry(): ToolRegistry {
    const { tools, resources, states, validator, capability, version, reminders } = this.#parts;
    return new ToolRegistry({
      ...{ tools, resources, states, validator, capability, version },
      reminders: reminders !== undefined,
    });
  }

  /** What runs calls of these tools, or of those in a registry. */
  dispatcher(options: SetDispatcherOptions = {}): Dispatcher {
    const { resources, reminders, sessionId } = this.#parts;
    const { tools = this.#own } = options;
    return new Dispatcher({
      find: (name) => tools.find(name),
      tools,
      resources,
      reminders,
      sessionId,
      ...options,
    });
  }

  /** The implementations, by full id. */
  implementations(): ReadonlyMap<string, ToolImpl> {
    return new Map(this.tools.map(({ id, impl }) => [id, impl]));
  }

  /** @internal */
  start(schedulers: readonly Scheduler[]): void {
    for (const start of schedulers) {
      const stop = start(this);
      if (stop !== undefined) this.#stops.push(stop);
    }
  }

  /** Writes what has changed of the memories to their file, and waits for it. Rejects where that fails. */
  async flush(): Promise<void> {
    await this.#parts.keeper?.flush();
  }

  /** Ends what runs in the background, and writes the memories to their file. Rejects where one of these fails. */
  async close(): Promise<void> {
    try {
      await Promise.all(this.#stops.splice(0).map((stop) => stop()));
    } finally {
      await this.#parts.keeper?.close();
    }
  }
}
