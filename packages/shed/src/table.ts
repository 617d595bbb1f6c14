import { paramsOf, type Resources, type SchemaValidator, ToolError, type ToolImpl } from "@shedkit/tool";
import {
  type BoundTool,
  bindTool,
  type NamedTool,
  namedTool,
  TemplateFault,
  ToolNames,
  type ToolSet,
  ToolStates,
} from "@shedkit/toolset";
import { toolName } from "@shedkit/types";
import { lateBinding } from "./late.js";
import { SHED_NAME } from "./shed-tool.js";

/** The tools of a session, ready for calls: those of its set, and those that come and go. */
export class ToolTable {
  readonly #tools = new Map<string, BoundTool>();
  readonly #resources: Resources;
  readonly #validator: SchemaValidator | undefined;
  #states: ToolStates | undefined;
  #names: ToolNames | undefined;

  constructor(set: ToolSet | undefined, resources: Resources, validator: SchemaValidator | undefined) {
    this.#resources = resources;
    this.#validator = validator;
    this.#states = set?.states;
    for (const tool of set?.tools ?? []) this.#tools.set(tool.name, tool);
  }

  /** What the tools remember. Undefined where no tool remembers anything. */
  get states(): ToolStates | undefined {
    return this.#states;
  }

  /** The names of the tools by kind, as they are now. */
  get names(): ToolNames {
    this.#names ??= new ToolNames(this.#named());
    return this.#names;
  }

  *#named(): Generator<NamedTool> {
    for (const tool of this.#tools.values()) if (tool.name !== SHED_NAME) yield namedTool(tool);
  }

  /**
   * Adds a tool that joins the session: its settings are its defaults, and what it remembered before it was removed it
   * still does. Throws ToolError `invalidArguments` where the name is taken, or a schema or a description is not valid.
   */
  add(tool: ToolImpl): BoundTool {
    const name = toolName(tool.definition());
    if (this.#tools.has(name)) {
      const message = `There is a tool "${name}" already. Remove it first, or rename one.`;
      throw new ToolError("invalidArguments", name, message);
    }
    const bound = this.#bind(tool, name);
    this.#tools.set(name, bound);
    this.#names = undefined;
    this.#equip(bound);
    return bound;
  }

  #bind(tool: ToolImpl, name: string): BoundTool {
    try {
      return bindTool(tool, { ...lateBinding(tool, () => this.#named()), validator: this.#validator });
    } catch (cause) {
      if (!(cause instanceof TemplateFault)) throw cause;
      const message = `The tool "${name}" cannot be used: its description cannot be filled in. ${cause.message}`;
      throw new ToolError("invalidArguments", name, message, { cause });
    }
  }

  /** Puts its settings and its memory where it finds them. */
  #equip({ id, params, metadata }: BoundTool): void {
    if (metadata.params !== undefined && params !== undefined) this.#resources.insert(paramsOf(id), params);
    if (metadata.state === undefined) return;
    this.#states ??= new ToolStates([], this.#resources);
    const value = this.#states.get(id);
    this.#states.add(metadata, this.#resources);
    if (value !== undefined) this.#states.restore({ key: id, version: metadata.state.version, value });
  }

  delete(name: string): void {
    this.#tools.delete(name);
    this.#names = undefined;
  }

  get(name: string): BoundTool | undefined {
    return this.#tools.get(name);
  }

  /** Throws ToolError `unknownTool`. */
  require(name: string): BoundTool {
    const tool = this.#tools.get(name);
    if (tool === undefined) throw unknownTool(name);
    return tool;
  }
}

export function unknownTool(name: string): ToolError {
  return new ToolError("unknownTool", name, `There is no tool "${name}". Look tools up with shed.`);
}
