import type { ModelParams, ModelRequest, Route } from "@shedkit/provider";
import type { ToolCallManager } from "@shedkit/shed";
import type {
  AgenticError,
  JsonSchema,
  JsonValue,
  Message,
  ModelIdLike,
  SessionId,
  SessionRecord,
} from "@shedkit/types";
import type { Spending } from "../access.js";
import type { AgentConfig, LoopDetectionConfig } from "../config.js";
import type { AgentContext } from "../context/context.js";
import type { SessionLog } from "../log/log.js";
import type { MemoryCoordinator } from "../memory/coordinator.js";
import type { SessionObserver } from "../observer.js";
import type { Permissions } from "../permissions.js";
import type { TurnOutcome } from "../turn/turn.js";
import type { LoopEffects } from "./effects.js";
import type { ErrorPolicy } from "./error-policy.js";
import type { Generation } from "./generation.js";

/** What the loop works with; a session's parts, shared by its turns. */
export interface LoopParts {
  sessionId: SessionId;
  effects: LoopEffects;
  log: SessionLog;
  tools: ToolCallManager;
  context: AgentContext;
  memory: MemoryCoordinator;
  permissions: Permissions;
  spending: Spending;
  config: AgentConfig;
  errorPolicy: ErrorPolicy;
  loopDetection: LoopDetectionConfig | undefined;
  system: string | undefined;
  observer: SessionObserver | undefined;
  /** Finds the backend of a model; makes it ready first, where that is still to be done. */
  resolve(model: ModelIdLike, signal: AbortSignal): Route | Promise<Route>;
}

/** What is asked of one turn. */
export interface TurnSpec {
  turnId: string;
  /** Absent for a turn that only goes on with calls that waited for leave. */
  prompt: Message | undefined;
  /** The model to ask, then its fallbacks. */
  models: readonly ModelIdLike[];
  /** The first model is this turn's alone: that the session works with a fallback does not concern it. */
  ownModel?: boolean | undefined;
  params: ModelParams;
  maxSteps: number;
  /** The answer must be JSON of this schema. */
  output?: JsonSchema | undefined;
  /** What the log holds of the turn, where another process began it. The prompt is part of it then. */
  soFar?: readonly SessionRecord[] | undefined;
  /** What the observer is told. */
  metadata?: { readonly [key: string]: JsonValue } | undefined;
}

/** Where a turn stands. Each state does its work and names the next. */
export type AgentLoopState =
  | { type: "begin" }
  | { type: "outerBoundary" }
  | { type: "assemble" }
  | { type: "generate"; route: Route; request: ModelRequest }
  | { type: "record"; route: Route; generation: Generation }
  /** A model call failed: what came of it is stored, or withdrawn, by what follows. */
  | { type: "recover"; route: Route; generation: Generation; error: AgenticError }
  | { type: "execute" }
  | { type: "outputProcessing" }
  | { type: "ending"; error?: AgenticError | undefined }
  | { type: "done"; outcome: TurnOutcome };

/** One of the states. */
export type StateOf<T extends AgentLoopState["type"]> = Extract<AgentLoopState, { type: T }>;
