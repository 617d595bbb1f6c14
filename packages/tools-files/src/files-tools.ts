import type { FileSystem } from "@shedkit/fs";
import type { ToolImpl } from "@shedkit/tool";
import { type EditParams, editTool } from "./edit.js";
import { type ListParams, listTool } from "./list.js";
import { type ReadParams, readTool } from "./read.js";
import { writeTool } from "./write.js";

/** Settings of the tools, by name; what is left out is as the tool's own default. */
export interface FilesToolsOptions {
  read?: Partial<ReadParams> | undefined;
  edit?: Partial<EditParams> | undefined;
  list?: Partial<ListParams> | undefined;
}

/** `read`, `write`, `edit` and `list` over one file system. */
export function filesTools(fs: FileSystem, options: FilesToolsOptions = {}): ToolImpl[] {
  return [readTool(fs, options.read), writeTool(fs), editTool(fs, options.edit), listTool(fs, options.list)];
}
