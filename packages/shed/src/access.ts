import { ToolError } from "@shedkit/tool";
import type { SessionTools } from "./session-tools.js";

/** Says of a tool whether the session may use it. */
type MayUse = (tool: string) => boolean | Promise<boolean>;

/** Which tools a session may use: what the host says, all where it says nothing. */
export class Access {
  readonly #tools: SessionTools;
  #mayUse: MayUse = () => true;

  constructor(tools: SessionTools) {
    this.#tools = tools;
  }

  set(mayUse: MayUse): void {
    this.#mayUse = mayUse;
  }

  mayUse(name: string): boolean | Promise<boolean> {
    return this.#mayUse(name);
  }

  /** Throws ToolError `unauthorized`; at once where nobody has to be asked. What is no tool of the session is let through. */
  assert(name: string): void | Promise<void> {
    if (!this.#tools.has(name)) return;
    const may = this.#mayUse(name);
    if (typeof may !== "boolean") return Promise.resolve(may).then((answer) => assertMay(name, answer));
    assertMay(name, may);
  }
}

function assertMay(name: string, may: boolean): void {
  if (!may) throw new ToolError("unauthorized", name, `The tool "${name}" may not be used here.`);
}
