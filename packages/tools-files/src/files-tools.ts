import type { FileSystem } from "@shedkit/fs";
import type { ToolImpl } from "@shedkit/tool";
import { type ApplyPatchParams, applyPatchTool } from "./apply-patch.js";
import { type DeleteParams, deleteTool } from "./delete.js";
import { type EditParams, editTool } from "./edit.js";
import { type ListParams, listTool } from "./list.js";
import { type MoveParams, moveTool } from "./move.js";
import { type MultiEditParams, multiEditTool } from "./multi-edit.js";
import type { FileFormat } from "./read/format.js";
import { type ReadParams, readTool } from "./read.js";
import { type WriteParams, writeTool } from "./write.js";

/** Settings of the tools, by name; what is left out is as the tool's own default. */
export interface FilesToolsOptions {
  read?: Partial<ReadParams> | undefined;
  write?: Partial<WriteParams> | undefined;
  edit?: Partial<EditParams> | undefined;
  list?: Partial<ListParams> | undefined;
  /** What `read` reads besides text and small images. Default: nothing. */
  formats?: readonly FileFormat[] | undefined;
}

/** Settings of the tools that change files in other ways, by name. */
export interface FileChangeToolsOptions {
  multi_edit?: Partial<MultiEditParams> | undefined;
  apply_patch?: Partial<ApplyPatchParams> | undefined;
  delete?: Partial<DeleteParams> | undefined;
  move?: Partial<MoveParams> | undefined;
}

/** `read`, `write`, `edit` and `list` over one file system. */
export function filesTools(fs: FileSystem, options: FilesToolsOptions = {}): ToolImpl[] {
  return [
    readTool(fs, options.read, options.formats),
    writeTool(fs, options.write),
    editTool(fs, options.edit),
    listTool(fs, options.list),
  ];
}

/** `multi_edit`, `apply_patch`, `delete` and `move` over one file system: what `edit` and `write` do not do. */
export function fileChangeTools(fs: FileSystem, options: FileChangeToolsOptions = {}): ToolImpl[] {
  return [
    multiEditTool(fs, options.multi_edit),
    applyPatchTool(fs, options.apply_patch),
    deleteTool(fs, options.delete),
    moveTool(fs, options.move),
  ];
}
