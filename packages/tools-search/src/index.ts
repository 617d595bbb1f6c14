export type { FileFinder } from "./finder.js";
export { type GlobInput, type GlobOptions, type GlobOutput, type GlobParams, globTool } from "./glob-tool.js";
export { type SearchContextInput, searchContextTool, sessionContextTool } from "./search-context.js";
export {
  type SearchFileInput,
  type SearchFileOptions,
  type SearchFileOutput,
  type SearchFileParams,
  type SearchKind,
  searchFileTool,
} from "./search-file.js";
