import { type ToolConstructor, toolFn } from "@shedkit/tool";
import type { MemoryAccess } from "@shedkit/types";
import { optionalPeer } from "./optional-peer.js";

const tools = () => optionalPeer("@shedkit/tools-memory", () => import("@shedkit/tools-memory"));

/** `memory` over a given memory, as a constructor that imports its package. */
export function memoryTools(memory: MemoryAccess): ToolConstructor[] {
  return [{ name: "memory", needsSession: false, construct: async () => (await tools()).memoryTool(memory) }];
}

/** `memory` over the session's own. */
export function sessionMemoryTools(): ToolConstructor[] {
  return [toolFn("memory", async ({ memory }) => (await tools()).memoryTool(memory))];
}
