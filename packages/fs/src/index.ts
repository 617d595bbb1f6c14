export {
  CHUNK_BYTES,
  type DirEntry,
  type FileStat,
  type FileSystem,
  type FileType,
  type FsOptions,
  type ReadOptions,
  type WriteOptions,
} from "./contract.js";
export { FsError, type FsErrorReason, isFsError } from "./error.js";
export { IgnoreRules } from "./ignore.js";
export { foldName, type Located, locate } from "./locate.js";
export { cleanPath, joinPath, nameOf, type PathRules, parentOf, quote, resolvePath, startsAtHome } from "./path.js";
