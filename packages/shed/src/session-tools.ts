import { showValue, ToolError, type ToolImpl } from "@shedkit/tool";
import { type BoundTool, ToolRegistry } from "@shedkit/toolset";
import { type Tool, toolName } from "@shedkit/types";
import { withOrdering } from "./calls/ordering.js";
import { unknownTool } from "./calls/outcomes.js";
import { isTool } from "./entry.js";
import type { ManagerOptions } from "./options.js";
import { SHED_NAME } from "./shed-tool.js";
import { USE_TOOL_NAME } from "./use-tool.js";

/** The tools of a session, `shed` apart: which there are, and what the model is told of each. */
export class SessionTools {
  readonly registry: ToolRegistry;
  readonly #ordering: boolean;
  readonly #byName: boolean;

  constructor({ set, resources, validator, ordering = false, callByName }: ManagerOptions) {
    this.registry = set?.registry() ?? new ToolRegistry({ resources, validator });
    this.#ordering = ordering;
    this.#byName = callByName !== undefined;
  }

  get isEmpty(): boolean {
    return this.names().length === 0;
  }

  /** In the order of registration. */
  names(): string[] {
    return this.registry.names();
  }

  has(name: string): boolean {
    return this.find(name) !== undefined;
  }

  find(name: string): BoundTool | undefined {
    return this.registry.find(name);
  }

  /** Throws ToolError `unknownTool`. */
  require(name: string): BoundTool {
    const tool = this.find(name);
    if (tool === undefined) throw unknownTool(name);
    return tool;
  }

  /** As the model gets it: with `_after` where calls can be ordered. */
  declaration(name: string): Tool | undefined {
    const tool = this.find(name)?.definition;
    return tool && this.#ordering ? withOrdering(tool) : tool;
  }

  declarations(): Tool[] {
    return this.names().map((name) => this.declaration(name) as Tool);
  }

  /** Throws as {@link ToolRegistry.register} does, and ToolError `invalidArguments` for what is no tool or named `shed`. */
  register(tool: ToolImpl): BoundTool {
    if (!isTool(tool)) {
      const message = `A tool is an object with definition() and execute(), and this is ${showValue(tool)}.`;
      throw new ToolError("invalidArguments", "tool", message);
    }
    const name = toolName(tool.definition());
    if (name === SHED_NAME || (this.#byName && name === USE_TOOL_NAME))
      throw new ToolError("invalidArguments", name, `No tool may be named "${name}": give it another name.`);
    return this.registry.register(tool);
  }

  /** False where there is none of that name. */
  remove(name: string): boolean {
    return this.registry.unregister(name);
  }
}
