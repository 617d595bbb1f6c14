import {
  type Progress,
  Resources,
  type SchemaValidator,
  type ToolCallResult,
  ToolError,
  type ToolEvent,
  type ToolImpl,
} from "@shedkit/tool";
import {
  type ActivatedBy,
  type Embedder,
  type JsonValue,
  type SessionId,
  type Tool,
  type ToolArguments,
  type ToolDeclarations,
  toolName,
} from "@shedkit/types";
import { Activations } from "./activation.js";
import { SHED_NAME, SHED_TOOL } from "./shed-tool.js";
import type { ToolCallOutcome, ToolCallRequest, ToolCallWorkflow, ToolHit, ToolRetryConfig } from "./types.js";

/** Settings of a {@link ToolCallManager}. */
export interface ManagerOptions {
  /** What the tools find at run time. Default: an empty container. */
  resources?: Resources | undefined;
  /** Checks arguments and results. */
  validator?: SchemaValidator | undefined;
  /** Gives every declared tool an optional `_after`. Default: false. */
  ordering?: boolean | undefined;
  /** A call of an inactive tool does not activate it. Default: false. */
  strict?: boolean | undefined;
  /** How many tools {@link ToolCallManager.trimActive} keeps. Default: 40. */
  maxActive?: number | undefined;
}

/** Tools that became active, or ceased to be: what a session's log records. */
export type ActivationChange =
  | { type: "activated"; tools: readonly string[]; by: ActivatedBy }
  | { type: "deactivated"; tools: readonly string[] };

/** How a batch of calls is run. */
export interface RunOptions {
  signal?: AbortSignal | undefined;
  /** The turn the calls belong to. */
  turnId?: string | undefined;
  /** How many calls of a parallel stage run at once. Default: 8. */
  concurrency?: number | undefined;
  /** Refuses calls of tools that are not active; see {@link ToolCallManager.checkOffered}. Default: false. */
  offeredOnly?: boolean | undefined;
  /**
   * Awaited before each attempt: the place to record it and to ask for leave. A ToolError thrown here becomes the
   * outcome of the call, which then does not run.
   */
  before?(request: ToolCallRequest, attempt: number): void | Promise<void>;
  /** A sign of life of a running call. */
  progress?(request: ToolCallRequest, progress: Progress): void;
  /** Awaited as soon as a call is done, in whatever order they finish: the place to record it. */
  after?(outcome: ToolCallOutcome): void | Promise<void>;
}

/** The tools of one session: which there are, which are active, and how calls of them are run. */
export class ToolCallManager {
  readonly sessionId: SessionId;
  readonly resources: Resources;
  readonly #tools = new Map<string, ToolImpl>();
  readonly #activations = new Activations();
  readonly #listeners = new Set<(change: ActivationChange) => void>();
  readonly #options: ManagerOptions;

  constructor(sessionId: SessionId, options: ManagerOptions = {}) {
    this.sessionId = sessionId;
    this.resources = options.resources ?? new Resources();
    this.#options = options;
  }

  /** What the next request declares: `shed`, then the active tools in the order in which they became active. */
  offeredTools(): ToolDeclarations {
    if (this.#tools.size === 0) return { tools: [], activations: [] };
    return { shed: SHED_TOOL, tools: this.activeDefinitions(), activations: this.#activations.entries() };
  }

  activeDefinitions(): readonly Tool[] {
    return Array.from(this.#activations.names(), (name) => this.getDef(name) as Tool);
  }

  /** Every registered tool, for inspection. */
  allDeclarations(): ToolDeclarations {
    return { ...this.offeredTools(), tools: Array.from(this.#tools.values(), (tool) => tool.definition()) };
  }

  shedDefinition(): Tool {
    return SHED_TOOL;
  }

  isActive(name: string): boolean {
    return this.#activations.has(name);
  }

  /** Declares tools from now on. Throws ToolError `unknownTool`, then none is activated. */
  activate(names: readonly string[], by: ActivatedBy = "call"): void {
    for (const name of names) this.#require(name);
    const tools = this.#activations.add(names, by);
    if (tools.length > 0) this.#tell({ type: "activated", tools, by });
  }

  /** Ceases to declare tools. For the moment at which the prefix of the conversation is new anyway. */
  deactivate(names: readonly string[]): void {
    const tools = this.#activations.remove(names);
    if (tools.length > 0) this.#tell({ type: "deactivated", tools });
  }

  /** At a compaction: deactivates the tools used least lately, so that `maxActive` stay; returns them. */
  trimActive(): string[] {
    const surplus = this.#activations.surplus(this.#options.maxActive ?? 40);
    this.deactivate(surplus);
    return surplus;
  }

  /** Calls back at every change of what is active; returns the function that ends it. */
  onActivation(listener: (change: ActivationChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Throws ToolError `unknownTool` or `notActive`. */
  checkOffered(name: string): void {
    if (name === SHED_NAME) return;
    this.#require(name);
    if (this.isActive(name)) return;
    if (!this.#options.strict) this.activate([name], "call");
    throw new ToolError("notActive", name, `The tool "${name}" is not active. Look it up with shed first.`);
  }

  register(tool: ToolImpl): void {
    this.#tools.set(toolName(tool.definition()), tool);
  }

  /** False where there is no such tool. */
  deregister(name: string): boolean {
    this.deactivate([name]);
    return this.#tools.delete(name);
  }

  get(name: string): ToolImpl | undefined {
    return this.#tools.get(name);
  }

  getDef(name: string): Tool | undefined {
    return this.#tools.get(name)?.definition();
  }

  names(): string[] {
    return [...this.#tools.keys()];
  }

  /** The arguments as the tool will get them. Throws ToolError `unknownTool` or `invalidArguments`. */
  validateArguments(request: ToolCallRequest): ToolArguments {
    this.#require(request.name);
    return request.arguments;
  }

  /** Runs one call once. Throws ToolError. */
  async executeOne(request: ToolCallRequest, options: RunOptions = {}): Promise<ToolCallResult> {
    for await (const event of this.stream(request, options)) {
      if (event.type === "result") return event.result;
      if (event.type === "error") throw event.error;
    }
    throw new ToolError("execution", request.name, `The tool "${request.name}" ended without a result.`);
  }

  /** Runs one call, again where it failed in a way that may pass; see {@link ToolRetryConfig}. Throws ToolError. */
  executeWithRetry(request: ToolCallRequest, options: RunOptions = {}): Promise<ToolCallResult> {
    return this.executeOne(request, options);
  }

  /** Runs one call once: progress, then exactly one result or error. Never throws. */
  async *stream(request: ToolCallRequest, _options: RunOptions = {}): AsyncIterable<ToolEvent> {
    yield { type: "error", error: new ToolError("notImplemented", request.name, "Not there yet.") };
  }

  /** Orders a batch of calls. Throws ToolError `invalidArguments`, naming the ids, for a cycle or an unknown id. */
  buildWorkflow(requests: readonly ToolCallRequest[]): ToolCallWorkflow {
    return {
      stages: [{ type: "sequential", failFast: true, calls: requests }],
      order: requests.map((request) => request.id),
    };
  }

  /** Runs a workflow; the outcomes come in the order of the calls. Never throws for a call. */
  async *runWorkflow(workflow: ToolCallWorkflow, options: RunOptions = {}): AsyncIterable<ToolCallOutcome> {
    for (const request of workflow.stages.flatMap((stage) => stage.calls)) {
      const result = await this.executeWithRetry(request, options);
      yield { request, result, promptText: result.text, attempts: 1 };
    }
  }

  /** Orders a batch and runs it. A batch that cannot be ordered gives every call the error, and none runs. */
  async *runCalls(requests: readonly ToolCallRequest[], options: RunOptions = {}): AsyncIterable<ToolCallOutcome> {
    yield* this.runWorkflow(this.buildWorkflow(requests), options);
  }

  setRetryConfig(_name: string, _config: Partial<ToolRetryConfig>): void {}

  retryConfig(_name: string): ToolRetryConfig {
    return {
      maxRetries: 3,
      initialBackoffMs: 1000,
      backoffMultiplier: 2,
      maxBackoffMs: 30_000,
      retryOn: ["timeout", "network"],
      anyTool: false,
    };
  }

  /** The tools that fit a description, best first. Activates nothing. `limit` defaults to 5. */
  async searchTools(_query: string, _limit = 5): Promise<ToolHit[]> {
    return [];
  }

  /** Searches by meaning too, from now on. */
  async enableDiscovery(_embedder: Embedder): Promise<void> {}

  /** Fills the names of tools into a text; see the templates of tool descriptions. */
  renderPrompt(template: string, _extra: { [key: string]: JsonValue } = {}): string {
    return template;
  }

  #require(name: string): ToolImpl {
    const tool = this.#tools.get(name);
    if (tool === undefined) {
      throw new ToolError("unknownTool", name, `There is no tool "${name}". Look tools up with shed.`);
    }
    return tool;
  }

  #tell(change: ActivationChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}
