import type { AgentSpawner, ContextSearch, Embedder, MemoryAccess, SessionId } from "@shedkit/types";
import type { ToolImpl } from "./impl.js";
import type { Reminder } from "./metadata.js";
import type { Resources } from "./resources.js";

/** What a constructor may use of the session being built: the same objects the session holds. */
export interface SessionParts {
  readonly sessionId: SessionId;
  readonly context: ContextSearch;
  readonly memory: MemoryAccess;
  readonly resources: Resources;
  readonly embedder?: Embedder | undefined;
  /** Starts sub-agents. */
  readonly spawn?: AgentSpawner<ToolImpl | ToolConstructor> | undefined;
}

/** Makes a tool for a session; called once, while the session is built. */
export interface ToolConstructor {
  /** The name of the tool it makes. */
  readonly name: string;
  /** False where `construct` never looks at its argument. */
  readonly needsSession: boolean;
  /**
   * What is told after calls of any tool in a session that is built with it; a reminder of the same id that the shed
   * has already takes its place. Default: none.
   */
  readonly reminders?: readonly Reminder[] | undefined;
  construct(parts: SessionParts): ToolImpl | Promise<ToolImpl>;
}

/** A constructor for a tool that needs its session. */
export function toolFn(name: string, make: (parts: SessionParts) => ToolImpl | Promise<ToolImpl>): ToolConstructor {
  return { name, needsSession: true, construct: make };
}

/** True for a constructor, false for a ready-made tool. */
export function isToolConstructor(tool: ToolImpl | ToolConstructor): tool is ToolConstructor {
  return "construct" in tool;
}
