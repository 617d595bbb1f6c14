export {
  type HashlineEdit,
  type HashlineEditInput,
  type HashlineEditOutput,
  type HashlineEditParams,
  hashlineEditTool,
} from "./edit.js";
export type { HashlineErrorKind } from "./failure.js";
export {
  type HashlineGrepInput,
  type HashlineGrepOptions,
  type HashlineGrepOutput,
  type HashlineGrepParams,
  hashlineGrepTool,
} from "./grep.js";
export { type HashlineToolsOptions, hashlineTools } from "./hashline-tools.js";
export {
  type HashlineReadInput,
  type HashlineReadOutput,
  type HashlineReadParams,
  hashlineReadTool,
} from "./read.js";
