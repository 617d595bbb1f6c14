import { ToolError } from "@shedkit/tool";
import { type ActivatedBy, functionSpec, type Tool, type ToolDeclarations } from "@shedkit/types";
import { Activations } from "./activation.js";
import { withOrdering } from "./calls/ordering.js";
import { wantsListing } from "./listing.js";
import type { ActivationChange, Beginning, ManagerOptions } from "./options.js";
import type { SessionTools } from "./session-tools.js";
import { SHED_NAME, SHED_TOOL, SHED_TOOL_BY_NAME } from "./shed-tool.js";
import { ORDERED_USE_TOOL, USE_TOOL, USE_TOOL_NAME } from "./use-tool.js";

const MAX_ACTIVE = 40;
const ORDERED_SHED = withOrdering(SHED_TOOL);
const ORDERED_SHED_BY_NAME = withOrdering(SHED_TOOL_BY_NAME);

/** What the model is offered: `shed` and the active tools. Others hear of every change. */
export class Offer {
  readonly #tools: SessionTools;
  readonly #options: ManagerOptions;
  readonly #activations: Activations;
  /** Until something changes; at first it may be that of many sessions. */
  #kept: Pick<Beginning, "declarations">;
  #listeners: readonly ((change: ActivationChange) => void)[] = [];

  constructor(tools: SessionTools, options: ManagerOptions) {
    this.#tools = tools;
    this.#options = options;
    const beginning: Beginning = options.beginning ?? { active: new Map() };
    this.#activations = new Activations(beginning.active);
    this.#kept = beginning;
  }

  /** `shed`, then the active tools in the order in which they became active. The same object until something changes. */
  declarations(): ToolDeclarations {
    this.#kept.declarations ??= this.#declared();
    return this.#kept.declarations;
  }

  #declared(): ToolDeclarations {
    const tools = this.definitions();
    const activations = this.#activations.entries();
    if (this.#tools.isEmpty) return { tools, activations };
    if (!this.byName) return { shed: this.shed, tools, activations };
    // Two tools like any other: no backend has to declare later what `shed` finds.
    const use = this.#options.ordering ? ORDERED_USE_TOOL : USE_TOOL;
    const both = [SHED_NAME, USE_TOOL_NAME].map((name) => ({ name, by: "pin" as const }));
    return { tools: [this.shed, use, ...tools], activations: [...both, ...activations] };
  }

  get shed(): Tool {
    if (this.byName) return this.#options.ordering ? ORDERED_SHED_BY_NAME : SHED_TOOL_BY_NAME;
    return this.#options.ordering ? ORDERED_SHED : SHED_TOOL;
  }

  /** Whether tools that are not active are called by `use_tool`. */
  get byName(): boolean {
    return this.#options.callByName !== undefined;
  }

  definitions(): Tool[] {
    return Array.from(this.#activations.names(), (name) => this.#tools.declaration(name) as Tool);
  }

  /** The names of the active tools. */
  names(): Iterable<string> {
    return this.#activations.names();
  }

  has(name: string): boolean {
    return this.#activations.has(name);
  }

  /** Throws ToolError `unknownTool`; then none is activated. */
  activate(names: readonly string[], by: ActivatedBy): void {
    for (const name of names) this.#tools.require(name);
    const tools = this.#activations.add(names, by);
    if (tools.length > 0) this.#changed({ type: "activated", tools, by });
  }

  deactivate(names: readonly string[]): void {
    const tools = this.#activations.remove(names);
    if (tools.length > 0) this.#changed({ type: "deactivated", tools });
  }

  /** Deactivates the tools used longest ago, so that `maxActive` stay; returns them. */
  trim(): string[] {
    const surplus = this.#activations.surplus(this.#options.maxActive ?? MAX_ACTIVE);
    this.deactivate(surplus);
    return surplus;
  }

  /** Notes that a tool was used. */
  touch(name: string): void {
    this.#activations.touch(name);
  }

  /** To be called where a tool came or went. */
  refresh(): void {
    this.#kept = {};
  }

  /** Returns the function that ends it. */
  onChange(listener: (change: ActivationChange) => void): () => void {
    this.#listeners = this.#listeners.concat(listener);
    return () => {
      this.#listeners = this.#listeners.filter((each) => each !== listener);
    };
  }

  /** Throws ToolError `unknownTool` or `notActive`; the latter activates the tool unless the session is strict. */
  check(name: string): void {
    if (name === SHED_NAME || this.has(name)) return;
    const { definition } = this.#tools.require(name);
    if (this.#options.strict) throw notActive(name);
    this.checkListed(name);
    const schema = JSON.stringify(functionSpec(definition).parameters);
    if (this.byName) {
      const advice = `It is called by ${USE_TOOL_NAME}: "tool_name" is "${name}", "tool_input" is what fits this schema: ${schema}`;
      throw new ToolError("notActive", name, `The tool "${name}" did not run. ${advice}`);
    }
    this.activate([name], "call");
    const advice = `It was not active; it is now. Call it again with arguments that fit this schema: ${schema}`;
    throw new ToolError("notActive", name, `The tool "${name}" did not run. ${advice}`);
  }

  /** Throws ToolError `notActive` for a tool that does not want to be listed now, or `unknownTool`. */
  checkListed(name: string): void {
    if (!wantsListing(this.#tools.require(name).metadata, { activeTools: [...this.names()] })) throw notActive(name);
  }

  #changed(change: ActivationChange): void {
    this.refresh();
    for (const listener of this.#listeners) listener(change);
  }
}

function notActive(name: string): ToolError {
  const advice = "It is not active. Look tools up with shed first; what it returns can be called.";
  return new ToolError("notActive", name, `The tool "${name}" did not run. ${advice}`);
}
