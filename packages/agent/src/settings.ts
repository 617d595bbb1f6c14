import type { ToolCallManager, ToolShed } from "@shedkit/shed";
import type { DocumentStore, MemoryStore } from "@shedkit/store";
import type { Embedder, ModelIdLike, SessionId, SessionRecord } from "@shedkit/types";
import type { SessionAccessProvider, Spending } from "./access.js";
import type { AgentConfig, ContextConfig, LoopDetectionConfig, MemoryConfig } from "./config.js";
import type { OpenCall } from "./log/session-state.js";
import type { LoopEffects } from "./loop/effects.js";
import type { ErrorPolicy } from "./loop/error-policy.js";
import type { PauseGate } from "./loop/pause.js";
import type { ModelSource, Models } from "./models.js";
import type { SessionObserver } from "./observer.js";
import type { PermissionPolicy } from "./permissions.js";

/** How a session is built. */
export interface BuildOptions {
  /** Gives up. */
  signal?: AbortSignal | undefined;
  /** How long to wait for another session that holds the log, in milliseconds. Default: 0, which is `sessionBusy`. */
  waitMs?: number | undefined;
}

/** What sub-agents are like: sessions that tools start, such as those of `@shedkit/tools-agent`. */
export interface ChildrenConfig {
  /** Their tools. Default: the session's own. */
  toolshed: ToolShed | undefined;
  /** How deep sub-agents may start sub-agents of their own; 0: none at all. Default: 1. */
  maxDepth: number;
  /** How many of a session may run at the same time. Default: 32. */
  maxRunning: number;
}

export const defaultChildrenConfig: ChildrenConfig = { toolshed: undefined, maxDepth: 1, maxRunning: 32 };

/** What runs a session's turns elsewhere, where that outlives this process. */
export interface SessionEngine {
  /** How the loop does what it does to the world. */
  effects(inProcess: LoopEffects): LoopEffects;
  /** Whether a call that a process left without a result runs now, instead of being told as interrupted. */
  runsAgain(open: OpenCall, tools: ToolCallManager): boolean;
  /** The turn that is started: its id, and the records that it has in the log already, in order. */
  turn(): { id: string; soFar: readonly SessionRecord[] };
}

/** What a builder has been told. */
export interface Settings<D extends DocumentStore, M extends MemoryStore> {
  readonly source: ModelSource;
  /** Those of another session, or of an engine: what they have loaded is shared. */
  readonly models?: Models;
  readonly docStore: D;
  readonly memoryStore: M;
  readonly sessionId?: SessionId;
  readonly mustExist?: boolean;
  readonly model?: ModelIdLike;
  readonly fallbacks?: readonly ModelIdLike[];
  readonly memoryModel?: ModelIdLike;
  readonly system?: string;
  readonly shed?: ToolShed;
  readonly embedder?: Embedder;
  readonly permissions?: PermissionPolicy;
  readonly access?: SessionAccessProvider;
  readonly user?: string;
  readonly config?: Partial<AgentConfig>;
  readonly contextConfig?: Partial<ContextConfig>;
  readonly memoryConfig?: Partial<MemoryConfig>;
  readonly errorPolicy?: ErrorPolicy;
  readonly observer?: SessionObserver;
  readonly loopDetection?: Partial<LoopDetectionConfig> | "off";
  readonly children?: Partial<ChildrenConfig>;
  /** Of a sub-agent: how deep it is, what holds it, and the budget that it shares. */
  readonly depth?: number;
  readonly gate?: PauseGate;
  readonly engine?: SessionEngine;
  readonly spending?: Spending;
}
