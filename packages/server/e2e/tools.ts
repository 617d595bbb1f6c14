import { MemoryFileSystem } from "@shedkit/fs/memory";
import type { ToolImpl } from "@shedkit/tool";
import { editTool, readTool } from "@shedkit/tools-files";

/** Tools over files in memory. */
export function filesTools(files: { [path: string]: string }): ToolImpl[] {
  const fs = new MemoryFileSystem(files);
  return [readTool(fs), editTool(fs)];
}
