export { type BindOptions, bindTool } from "./bind.js";
export { type CappedContent, capContent, MAX_RESULT_BYTES } from "./cap.js";
export type { BoundTool, DispatchCall, DispatchEvent, DispatchOptions, DispatchOutcome } from "./contract.js";
export { Dispatcher, type DispatcherOptions } from "./dispatcher.js";
export { MemoryKeptResults } from "./kept.js";
export { loadValidator } from "./validator.js";
