export type { FileFinder } from "./finder.js";
export { type SearchContextInput, searchContextTool, sessionContextTool } from "./search-context.js";
export {
  type SearchFileInput,
  type SearchFileOptions,
  type SearchFileOutput,
  type SearchFileParams,
  type SearchKind,
  searchFileTool,
} from "./search-file.js";
