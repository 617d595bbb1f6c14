import { ToolError, type ToolImpl } from "@shedkit/tool";
import { toolName } from "@shedkit/types";
import { type BindOptions, bindTool } from "./bind.js";
import type { BoundTool } from "./contract.js";
import { isExternalName } from "./external.js";

/** The tools that can be called: those of a set, which stay, and those that come and go at run time. */
export class ToolRegistry {
  readonly #fixed: ReadonlyMap<string, BoundTool>;
  readonly #added = new Map<string, BoundTool>();
  readonly #options: BindOptions;

  constructor(fixed: Iterable<BoundTool> = [], options: BindOptions = {}) {
    this.#fixed = new Map(Array.from(fixed, (tool) => [tool.name, tool]));
    this.#options = options;
  }

  find(name: string): BoundTool | undefined {
    return this.#fixed.get(name) ?? this.#added.get(name);
  }

  /** Adds a tool. Throws ToolError `invalidArguments` where its name is taken or a schema of it is not valid. */
  register(tool: ToolImpl): BoundTool {
    const name = toolName(tool.definition());
    if (this.find(name) !== undefined) {
      const message = `There is a tool named "${name}" already. Give this one another name, or take the other out.`;
      throw new ToolError("invalidArguments", name, message);
    }
    const bound = bindTool(tool, this.#options);
    this.#added.set(name, bound);
    return bound;
  }

  /** Takes out a tool that was added. False for any other. */
  unregister(name: string): boolean {
    return this.#added.delete(name);
  }

  /** Takes out the added tools whose names begin so; returns how many. */
  unregisterByPrefix(prefix: string): number {
    const names = [...this.#added.keys()].filter((name) => name.startsWith(prefix));
    for (const name of names) this.#added.delete(name);
    return names.length;
  }

  /** In the order of the set, then of registration. */
  names(which: { external?: boolean | undefined } = {}): string[] {
    const all = [...this.#fixed.keys(), ...this.#added.keys()];
    return which.external === undefined ? all : all.filter((name) => isExternalName(name) === which.external);
  }
}
