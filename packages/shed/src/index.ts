export type { ToolSource } from "./assemble.js";
export type { RetryClock } from "./calls/retry.js";
export { ToolCallManager } from "./manager.js";
export type { ActivationChange, CallRunOptions, ManagerOptions, RunOptions } from "./options.js";
export { type ShedProblem, ToolShedError } from "./problems.js";
export { ToolDiscovery } from "./search/discovery.js";
export type { Scored } from "./search/tool-index.js";
export { type ShedBuildOptions, ToolShed } from "./toolshed.js";
export type {
  ToolCallOutcome,
  ToolCallRequest,
  ToolCallStage,
  ToolCallWorkflow,
  ToolHit,
  ToolNotification,
  ToolRetryConfig,
} from "./types.js";
export type { CallByNameOptions } from "./use-tool.js";
