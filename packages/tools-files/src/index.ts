export { FILE_CHANGED, type FileChanged } from "./announce.js";
export { type ApplyPatchInput, type ApplyPatchOutput, type ApplyPatchParams, applyPatchTool } from "./apply-patch.js";
export { type DeleteInput, type DeleteOutput, type DeleteParams, deleteTool } from "./delete.js";
export { type EditInput, type EditOutput, type EditParams, editTool } from "./edit.js";
export {
  type FileChangeToolsOptions,
  type FilesToolsOptions,
  fileChangeTools,
  filesTools,
} from "./files-tools.js";
export { type ListInput, type ListOutput, type ListParams, listTool } from "./list.js";
export { type MoveInput, type MoveOutput, type MoveParams, moveTool } from "./move.js";
export { type MultiEditInput, type MultiEditOutput, type MultiEditParams, multiEditTool } from "./multi-edit.js";
export type { FileFormat, FormatFile, FormatRequest } from "./read/format.js";
export { type ReadInput, type ReadOutput, type ReadParams, readTool } from "./read.js";
export { type WriteInput, type WriteOutput, type WriteParams, writeTool } from "./write.js";
