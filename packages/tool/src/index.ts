export { onAbort } from "./abort.js";
export { asData } from "./as-data.js";
export { type BackgroundTask, type BackgroundTasks, backgroundTasks } from "./background.js";
export { type CallOptions, callTool, settle } from "./call.js";
export { type CallInfo, type CallInput, callInfo, kindLabel } from "./call-info.js";
export { checkReturns, checkState } from "./check-result.js";
export { type CommandsSpec, defineCommands } from "./commands.js";
export { toContent } from "./content.js";
export { capabilitiesFor, fullId, metadataOf } from "./defaults.js";
export {
  defineTool,
  type ToolBody,
  type ToolOutputSpec,
  type ToolSpec,
  type TypedTool,
  type TypedToolContext,
} from "./define.js";
export { ToolError, type ToolErrorKind } from "./error.js";
export { toToolError } from "./fault.js";
export { type FileChangeLog, type FileChangeNote, fileChangesOf } from "./file-changes.js";
export { FnTool } from "./fn-tool.js";
export { type CallGate, callGates, type GatedCall, gateRefusal, userAnswers } from "./gate.js";
export { fitsModel, type ImageInfo, imageInfo, MAX_IMAGE, toBase64 } from "./image-info.js";
export type { ClientNames, Progress, ToolContext, ToolEvent, ToolImpl } from "./impl.js";
export { showIssues, showValue } from "./issues.js";
export { type KeptResults, keptResults } from "./kept.js";
export type {
  AccessRequest,
  BehaviorVersion,
  CapabilityHints,
  DescribeContext,
  KnownToolKind,
  ListContext,
  ParamFault,
  ParamRequirement,
  Reminder,
  Requirement,
  ToolCapabilities,
  ToolKind,
  ToolMetadata,
} from "./metadata.js";
export { paramsOf, type StateHandle, stateOf } from "./params.js";
export { type PreparedArguments, prepareArguments, wrapperKeys } from "./prepare.js";
export { type Resource, Resources, resource } from "./resources.js";
export { ToolCallResult } from "./result.js";
export { runTool, runToolToEnd } from "./run.js";
export type { Pattern, SchemaLimits, SchemaReading } from "./schema/document.js";
export { allDiffer, isMultipleOf, jsonEqual } from "./schema/equal.js";
export { schemaFormats } from "./schema/formats.js";
export { schemaDraft } from "./schema/node.js";
export { createValidator, evalFreeValidator } from "./schema/validator.js";
export type { Infer, SchemaIssue, SchemaValidator, TypedSchema } from "./schema.js";
export { isSecretVariable } from "./secret-variable.js";
export { isToolConstructor, type SessionParts, type ToolConstructor, toolFn } from "./session.js";
export { partsAlone } from "./session-alone.js";
export type { InferStandard, InferStandardInput, StandardResult, StandardTypedSchema } from "./standard.js";
export { CallTimer } from "./timer.js";
export { ToolArgs } from "./tool-args.js";
export { escapeTag, unescapeTag, wrapperTag } from "./wrapper-tag.js";
