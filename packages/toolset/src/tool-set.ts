import type { ListContext, Resources, SchemaValidator, ToolImpl, ToolKind } from "@shedkit/tool";
import type { JsonValue, SessionId, Tool } from "@shedkit/types";
import type { ToolSetWarning } from "./config/types.js";
import type { BoundTool } from "./contract.js";
import { Dispatcher, type DispatcherOptions } from "./dispatcher.js";
import { ToolRegistry } from "./registry.js";
import type { Reminders } from "./reminders.js";
import type { ToolStates } from "./state.js";
import type { ToolNames } from "./template/context.js";
import { renderTemplate, stripTemplate } from "./template/render.js";

/** Runs in the background while a set is in use. Returns what ends it. */
export type Scheduler = (set: ToolSet) => (() => void | Promise<void>) | undefined;

/** What a {@link ToolSet} is made of. */
export interface ToolSetParts {
  readonly tools: readonly BoundTool[];
  readonly names: ToolNames;
  readonly resources: Resources;
  readonly validator: SchemaValidator;
  readonly states: ToolStates;
  readonly reminders: Reminders | undefined;
  readonly warnings: readonly ToolSetWarning[];
  readonly sessionId?: SessionId | undefined;
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
  readonly #byName: ReadonlyMap<string, BoundTool>;
  readonly #stops: (() => void | Promise<void>)[] = [];

  constructor(parts: ToolSetParts) {
    this.#parts = parts;
    this.tools = parts.tools;
    this.resources = parts.resources;
    this.states = parts.states;
    this.warnings = parts.warnings;
    this.#byName = new Map(parts.tools.map((tool) => [tool.name, tool]));
  }

  /** The tool of that client name. */
  get(name: string): BoundTool | undefined {
    return this.#byName.get(name);
  }

  /** The client names, in order. */
  names(): string[] {
    return [...this.#byName.keys()];
  }

  /** What the model is told; with a context, of the tools that want to be listed now. */
  definitions(list?: ListContext | undefined): Tool[] {
    return this.tools
      .filter(({ metadata }) => list === undefined || (metadata.shouldList?.(list) ?? true))
      .map(({ definition }) => definition);
  }

  /** The client name of the first tool of that kind. */
  toolForKind(kind: ToolKind): string | undefined {
    return this.#parts.names.tool(kind);
  }

  /** The client name of a parameter of that kind's tools. */
  paramForKind(kind: ToolKind, canonical: string): string | undefined {
    return this.#parts.names.param(kind, canonical);
  }

  /**
   * Fills the names of tools into a text; see {@link renderTemplate}. A text that cannot be filled in comes back
   * without its markers, and `onFault` hears why.
   */
  renderPrompt(template: string, extra: { [key: string]: JsonValue } = {}, onFault?: (reason: string) => void): string {
    try {
      return renderTemplate(template, this.#parts.names.context({}, this.#parts.reminders !== undefined, extra));
    } catch (e) {
      onFault?.(e instanceof Error ? e.message : String(e));
      return stripTemplate(template);
    }
  }

  /** These tools, and room for tools that come and go. */
  registry(): ToolRegistry {
    return new ToolRegistry(this.tools, { validator: this.#parts.validator });
  }

  /** What runs calls of these tools, or of those that `find` finds. */
  dispatcher(options: Partial<Pick<DispatcherOptions, "find" | "names" | "onNotify">> = {}): Dispatcher {
    const { resources, reminders, sessionId, names } = this.#parts;
    return new Dispatcher({
      find: (name) => this.get(name),
      names: () => names,
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

  /** Ends what runs in the background. */
  async close(): Promise<void> {
    await Promise.all(this.#stops.splice(0).map((stop) => stop()));
  }
}
