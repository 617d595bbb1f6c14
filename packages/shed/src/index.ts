export { type ActivationChange, type ManagerOptions, type RunOptions, ToolCallManager } from "./manager.js";
export { type ShedProblem, ToolShedError } from "./problems.js";
export { ToolShed } from "./toolshed.js";
export type {
  ToolCallOutcome,
  ToolCallRequest,
  ToolCallStage,
  ToolCallWorkflow,
  ToolHit,
  ToolRetryConfig,
} from "./types.js";
