import type { FileSystem } from "@shedkit/fs";
import { ToolCallManager, ToolShedError } from "@shedkit/shed";
import type { ToolConstructor, ToolImpl } from "@shedkit/tool";
import type { SessionId } from "@shedkit/types";
import { type FilesPresetOptions, fileTools } from "./files-preset.js";
import { readyMadeParts } from "./ready-made.js";

/**
 * A list of tools to give to a shed: `new ToolShed().tools(ToolPreset.files(fs))`. Making and iterating one imports
 * nothing; a tool's package is imported when the session is built.
 */
export class ToolPreset implements Iterable<ToolConstructor> {
  readonly #constructors: readonly ToolConstructor[];

  private constructor(constructors: readonly ToolConstructor[]) {
    this.#constructors = constructors;
  }

  /** `read`, `write`, `edit` and `list` over a file system. Needs `@shedkit/tools-files`. */
  static files(fs: FileSystem, options: FilesPresetOptions = {}): ToolPreset {
    return new ToolPreset(fileTools(fs, options));
  }

  static fromConstructors(list: Iterable<ToolConstructor>): ToolPreset {
    return new ToolPreset([...list]);
  }

  /** The tools of both, these first. A name that both have is refused when the shed is built. */
  merge(other: Iterable<ToolConstructor>): ToolPreset {
    return new ToolPreset([...this.#constructors, ...other]);
  }

  [Symbol.iterator](): Iterator<ToolConstructor> {
    return this.#constructors[Symbol.iterator]();
  }

  /** Adds the tools to a running session. Throws ToolShedError `needsSession` where one can only be built with it. */
  async registerAll(manager: ToolCallManager): Promise<void> {
    for (const tool of await this.asChildTools()) manager.register(tool);
  }

  /** The tools, ready-made, e.g. for a sub-agent. Throws ToolShedError `needsSession`, naming all that need one. */
  async asChildTools(): Promise<ToolImpl[]> {
    const problems = this.#constructors
      .filter((tool) => tool.needsSession)
      .map(({ name }) => ({ type: "needsSession" as const, name }));
    if (problems.length > 0) throw new ToolShedError(problems);
    return Promise.all(this.#constructors.map((tool) => tool.construct(readyMadeParts)));
  }

  /** A fresh manager that holds the tools. Throws ToolShedError `needsSession`. */
  async intoManager(sessionId: SessionId): Promise<ToolCallManager> {
    const manager = new ToolCallManager(sessionId);
    await this.registerAll(manager);
    return manager;
  }
}
