export { type EditInput, type EditOutput, type EditParams, editTool } from "./edit.js";
export { type FilesToolsOptions, filesTools } from "./files-tools.js";
export { type ListInput, type ListOutput, type ListParams, listTool } from "./list.js";
export { type ReadInput, type ReadOutput, type ReadParams, readTool } from "./read.js";
export { type WriteInput, type WriteOutput, writeTool } from "./write.js";
