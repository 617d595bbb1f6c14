import type { SerializedError } from "./error.js";
import type { JsonValue } from "./json.js";
import type { Usage } from "./model.js";

/** Turns texts into vectors. */
export interface Embedder {
  readonly id: string;
  readonly dimensions?: number | undefined;
  /** One vector a text, in order. */
  embed(texts: readonly string[], options?: { signal?: AbortSignal | undefined }): Promise<Float32Array[]>;
}

/** Where a search looks: in messages, in the memory tiers, or in both. */
export type SearchMode = "semantic" | "memory" | "graph" | "hybrid";

/** Something found. `score` is between 0 and 1. */
export interface KnowledgeHit {
  source: "message" | "workingMemory" | "observation" | "reflection";
  score: number;
  content: string;
  recordId?: string | undefined;
}

/** Recall over a session's own stores. */
export interface ContextSearch {
  /** Best first. `mode` defaults to `"hybrid"`, `limit` to 10. */
  search(
    query: string,
    options?: { mode?: SearchMode | undefined; limit?: number | undefined },
  ): Promise<KnowledgeHit[]>;
}

/** A session's working facts. */
export interface MemoryAccess {
  facts(): Promise<readonly JsonValue[]>;
  /** Applies `change` to the newest facts, alone; returns the new version. */
  edit(change: (facts: readonly JsonValue[]) => readonly JsonValue[]): Promise<number>;
}

/**
 * Starts child sessions; `agent` supplies it, `tools-agent` knows only this. `T` is what a tool is, or what makes one.
 */
export interface AgentSpawner<T = never> {
  start(spec: {
    task: string;
    model?: string | undefined;
    system?: string | undefined;
    maxSteps?: number | undefined;
    /** The child's own tools. Default: what the session gives its children. */
    tools?: Iterable<T> | undefined;
    /** The id of an earlier child: goes on in its conversation. */
    resume?: string | undefined;
  }): Promise<ChildAgent>;
  /**
   * How an earlier child ended, as its log has it: what it answered last, also after a restart. Undefined where it broke
   * off before it had an answer, or is not known. Default: only a child that is held can say it.
   */
  ended?(id: string, signal?: AbortSignal): Promise<Extract<ChildStatus, { type: "done" | "failed" }> | undefined>;
}

/** A session that another one started. */
export interface ChildAgent {
  readonly id: string;
  status(): ChildStatus;
  /** Calls back whenever the status may have changed; returns the function that ends it. */
  watch(listener: () => void): () => void;
  /** Holds it before its next model call or tool calls. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
  /** Its final answer. Rejects with the error that ended it. */
  result(): Promise<string>;
}

/** How a child is doing. `tool` is the one that it called last; `usage` is what it has cost. */
export type ChildStatus =
  | { type: "running"; step: number; tool?: string | undefined }
  | { type: "paused" }
  | { type: "done"; summary: string; usage?: Usage | undefined }
  | { type: "failed"; error: SerializedError; usage?: Usage | undefined };
