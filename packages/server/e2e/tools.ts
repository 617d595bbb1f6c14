import { MemoryFileSystem } from "@shedkit/fs/memory";
import { FnTool, metadataOf, ToolCallResult, type ToolImpl, userAnswers } from "@shedkit/tool";
import { editTool, readTool } from "@shedkit/tools-files";

/** Tools over files in memory. */
export function filesTools(files: { [path: string]: string }): ToolImpl[] {
  const fs = new MemoryFileSystem(files);
  return [readTool(fs), editTool(fs)];
}

/** Asks a person what its arguments say, and returns what was answered. */
export function askingTool(name: string): ToolImpl {
  const plain = new FnTool(name, "Asks.", { type: "object" }, async () => "");
  return {
    definition: () => plain.definition(),
    metadata: { ...metadataOf(plain), asks: () => true },
    execute: async (_, ctx) =>
      ToolCallResult.text(`answered: ${JSON.stringify(ctx.resources.get(userAnswers)?.get(ctx.callId) ?? "nothing")}`),
  };
}
