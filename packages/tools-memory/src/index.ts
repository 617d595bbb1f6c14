export { type MemoryToolOptions, memoryTool, sessionMemoryTool } from "./memory-tool.js";
