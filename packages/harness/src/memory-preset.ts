import { type ToolConstructor, toolFn } from "@shedkit/tool";
import type { MemoryAccess } from "@shedkit/types";
import { given, type Settings } from "./given.js";
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

/** Settings of `memory`, as `@shedkit/tools-memory` describes them. What is absent is its default. */
export type MemoryPresetOptions = Settings<{ maxFacts: number; maxFactChars: number }>;

/** Settings of `memory_search`, likewise. */
export type NotesPresetOptions = Settings<{ staleDays: number }>;

const tools = () => optionalPeer("@shedkit/tools-memory", () => import("@shedkit/tools-memory"));

/** `memory` over a given memory, as a constructor that imports its package. */
export function memoryTools(memory: MemoryAccess, options: MemoryPresetOptions): ToolConstructor[] {
  const construct = async () => (await tools()).memoryTool(memory, options);
  return [{ name: "memory", needsSession: false, construct }];
}

/** `memory` over the session's own. */
export function sessionMemoryTools(options: MemoryPresetOptions): ToolConstructor[] {
  return [toolFn("memory", async ({ memory }) => (await tools()).memoryTool(memory, options))];
}

/** `memory_search` and `memory_get` over notes. */
export function noteTools(notes: NoteStore, options: NotesPresetOptions): ToolConstructor[] {
  const search = async () => (await tools()).memorySearchTool(notes, given(options));
  return [
    { name: "memory_search", needsSession: false, construct: search },
    { name: "memory_get", needsSession: false, construct: async () => (await tools()).memoryGetTool(notes) },
  ];
}
