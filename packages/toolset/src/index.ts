export { type BindOptions, bindTool } from "./bind.js";
export { ToolSetBuilder, type ToolSetBuildOptions } from "./builder.js";
export { type CappedContent, capContent, MAX_RESULT_BYTES } from "./cap.js";
export { allows, type CapabilityClaims, type CapabilityMode, isWithin } from "./config/capability.js";
export { type MergedConfig, type MergeSources, mergeConfigs } from "./config/merge.js";
export { configProblems } from "./config/shape.js";
export {
  type ToolConfig,
  type ToolSetConfig,
  ToolSetError,
  type ToolSetProblem,
  type ToolSetWarning,
} from "./config/types.js";
export type { BehaviorPreset, ResolvedVersion } from "./config/version.js";
export type { BoundTool, DispatchCall, DispatchEvent, DispatchOptions, DispatchOutcome } from "./contract.js";
export { Dispatcher, type DispatcherOptions } from "./dispatcher.js";
export {
  type ExternalResult,
  type ExternalToolSpec,
  externalName,
  externalTool,
  isExternalName,
} from "./external.js";
export { loadForeignPatterns } from "./foreign.js";
export { MemoryKeptResults } from "./kept.js";
export type { ToolManifest } from "./manifest.js";
export { type RegistryOptions, ToolRegistry } from "./registry.js";
export { type ReminderSettings, Reminders } from "./reminders.js";
export { inWords, isMet, type RequiredTool } from "./requirement.js";
export { type ToolStateRecord, ToolStates } from "./state.js";
export { stateFile, stateFileName } from "./state-file.js";
export { type StateFile, StateKeeper, type StateKeeperOptions } from "./state-keeper.js";
export { type NamedTool, ToolNames } from "./template/context.js";
export type { TemplateContext, TemplateValue } from "./template/expression.js";
export { TemplateFault } from "./template/fault.js";
export { renderTemplate, stripTemplate } from "./template/render.js";
export { type Scheduler, type SetDispatcherOptions, ToolSet, type ToolSetParts } from "./tool-set.js";
export { loadValidator } from "./validator.js";
