import { type ToolConstructor, toolFn } from "@shedkit/tool";
import type { MemoryAccess } from "@shedkit/types";
import { optionalPeer } from "./optional-peer.js";

/** Notes that outlive sessions: the `MemoryNotes` of `@shedkit/tools-memory`. */
export interface NoteStore {
  search(
    query: string,
    options: { limit: number; signal: AbortSignal },
  ): Promise<
    readonly {
      path: string;
      from: number;
      to: number;
      score: number;
      text: string;
      changedAt?: number | undefined;
    }[]
  >;
  get(path: string, options: { signal: AbortSignal }): Promise<string | undefined>;
}

const tools = () => optionalPeer("@shedkit/tools-memory", () => import("@shedkit/tools-memory"));

/** `memory` over a given memory, as a constructor that imports its package. */
export function memoryTools(memory: MemoryAccess): ToolConstructor[] {
  return [{ name: "memory", needsSession: false, construct: async () => (await tools()).memoryTool(memory) }];
}

/** `memory` over the session's own. */
export function sessionMemoryTools(): ToolConstructor[] {
  return [toolFn("memory", async ({ memory }) => (await tools()).memoryTool(memory))];
}

/** `memory_search` and `memory_get` over notes. */
export function noteTools(notes: NoteStore): ToolConstructor[] {
  return [
    { name: "memory_search", needsSession: false, construct: async () => (await tools()).memorySearchTool(notes) },
    { name: "memory_get", needsSession: false, construct: async () => (await tools()).memoryGetTool(notes) },
  ];
}
