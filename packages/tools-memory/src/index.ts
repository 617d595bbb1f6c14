export { type FileNotesOptions, fileNotes } from "./file-notes.js";
export { type MemoryToolOptions, memoryTool, sessionMemoryTool } from "./memory-tool.js";
export {
  type MemoryGetInput,
  type MemoryGetOutput,
  type MemorySearchInput,
  type MemorySearchOutput,
  type MemorySearchParams,
  memoryGetTool,
  memorySearchTool,
  noteTools,
} from "./note-tools.js";
export type { MemoryNotes, NoteHit } from "./notes.js";
