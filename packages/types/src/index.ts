export {
  AgenticError,
  type AgenticErrorCode,
  type AgenticErrorDetails,
  type AgenticErrorOptions,
  type GenerationErrorKind,
  type SerializedError,
} from "./error.js";
export { type IdSource, newId, newRecordId, newSessionId, type SessionId } from "./id.js";
export type { JsonSchema, JsonValue, ProviderData, ToolArguments } from "./json.js";
export {
  type AssistantMessage,
  type BinarySource,
  type ContentPart,
  type ExecutionHint,
  type Message,
  type MessageLike,
  Messages,
  type ModelOutput,
  type ToolCallOutput,
  type ToolResultMessage,
  textOfContent,
  toMessage,
  type UserMessage,
} from "./message.js";
export { addUsage, type FinishReason, type ModelId, type ModelIdLike, modelId, noUsage, type Usage } from "./model.js";
export type { ApprovalCall, ApprovalDecision, SessionRecord, SessionRecordBody } from "./record.js";
export type {
  AgentSpawner,
  ChildAgent,
  ChildStatus,
  ContextSearch,
  Embedder,
  KnowledgeHit,
  MemoryAccess,
  SearchMode,
} from "./services.js";
export {
  type ActivatedBy,
  functionSpec,
  type Tool,
  type ToolDeclarations,
  type ToolDefinition,
  type ToolFunctionSpec,
  toolName,
} from "./tool.js";
