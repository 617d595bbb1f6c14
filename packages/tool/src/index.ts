export { ToolError, type ToolErrorKind } from "./error.js";
export type { Progress, ToolContext, ToolEvent, ToolImpl } from "./impl.js";
export type {
  AccessRequest,
  BehaviorVersion,
  DescribeContext,
  ListContext,
  ParamRequirement,
  Reminder,
  Requirement,
  ToolCapabilities,
  ToolKind,
  ToolMetadata,
} from "./metadata.js";
export { type Resource, Resources, resource } from "./resources.js";
export { ToolCallResult } from "./result.js";
export type { Infer, SchemaIssue, SchemaValidator, TypedSchema } from "./schema.js";
export { isToolConstructor, type SessionParts, type ToolConstructor, toolFn } from "./session.js";
