import type { CallInfo, Resources, ToolCallResult, ToolEvent, ToolImpl, ToolMetadata } from "@shedkit/tool";
import type { ToolSetWarning, ToolStates } from "@shedkit/toolset";
import type {
  ActivatedBy,
  Embedder,
  JsonValue,
  SessionId,
  Tool,
  ToolArguments,
  ToolDeclarations,
} from "@shedkit/types";
import { Access } from "./access.js";
import { Attempts } from "./calls/attempts.js";
import { Batches } from "./calls/batches.js";
import { resultOf } from "./calls/outcomes.js";
import { ToolLookup } from "./lookup.js";
import { Offer } from "./offer.js";
import type { ActivationChange, CallRunOptions, ManagerOptions, RunOptions } from "./options.js";
import { SessionTools } from "./session-tools.js";
import type {
  ToolCallOutcome,
  ToolCallRequest,
  ToolCallWorkflow,
  ToolHit,
  ToolNotification,
  ToolRetryConfig,
} from "./types.js";

/** The tools of one session: which there are, which are active, and how calls of them are run. */
export class ToolCallManager {
  readonly sessionId: SessionId;
  readonly resources: Resources;
  readonly #options: ManagerOptions;
  // Which there are.
  readonly #tools: SessionTools;
  readonly #lookup: ToolLookup;
  // Which the model may call.
  readonly #offer: Offer;
  readonly #access: Access;
  // How calls are run.
  readonly #attempts: Attempts;
  readonly #batches: Batches;

  constructor(sessionId: SessionId, options: ManagerOptions = {}) {
    this.sessionId = sessionId;
    this.#options = options;
    this.#tools = new SessionTools(options);
    this.resources = this.#tools.registry.resources;
    this.#offer = new Offer(this.#tools, options);
    this.#access = new Access(this.#tools);
    this.#lookup = new ToolLookup(this.#tools, this.#offer, this.#access);
    const parts = { tools: this.#tools, lookup: this.#lookup, access: this.#access };
    this.#attempts = new Attempts(sessionId, parts, options);
    this.#batches = new Batches(this.#attempts, this.#offer, this.#access, options);
  }

  /** What the next request declares: `shed`, then the active tools in the order in which they became active. */
  offeredTools(): ToolDeclarations {
    return this.#offer.declarations();
  }

  activeDefinitions(): readonly Tool[] {
    return this.#offer.definitions();
  }

  /** Every registered tool, for inspection. */
  allDeclarations(): ToolDeclarations {
    return { ...this.offeredTools(), tools: this.#tools.declarations() };
  }

  shedDefinition(): Tool {
    return this.#offer.shed;
  }

  isActive(name: string): boolean {
    return this.#offer.has(name);
  }

  /** Declares tools from now on. Throws ToolError `unknownTool`; then none is activated. */
  activate(names: readonly string[], by: ActivatedBy = "call"): void {
    this.#offer.activate(names, by);
  }

  /** Ceases to declare tools. For the moment at which the prefix of the conversation is new anyway. */
  deactivate(names: readonly string[]): void {
    this.#offer.deactivate(names);
  }

  /** At a compaction: deactivates the tools used longest ago, so that `maxActive` stay; returns them. */
  trimActive(): string[] {
    return this.#offer.trim();
  }

  /** Calls back at every change of what is active; returns the function that ends it. */
  onActivation(listener: (change: ActivationChange) => void): () => void {
    return this.#offer.onChange(listener);
  }

  /** Calls back with all that running tools tell the host (`ctx.notify`); returns the function that ends it. */
  onNotify(listener: (notification: ToolNotification) => void): () => void {
    return this.#attempts.onNotify(listener);
  }

  /** Decides which tools `shed` may return, a call of an inactive tool may activate, and a call may run. Default: all. */
  setAccess(mayUse: (tool: string) => boolean | Promise<boolean>): void {
    this.#access.set(mayUse);
  }

  /**
   * Throws ToolError `unknownTool` or `notActive`. Unless the manager is strict, the latter carries the tool's schema
   * and activates it, so that the next call works.
   */
  checkOffered(name: string): void {
    this.#offer.check(name);
  }

  /**
   * Adds a tool. A search finds it at once; its settings are its defaults, its description is filled in with the names
   * of the tools that are there, and what it remembered before it was removed it still does. Throws ToolError
   * `invalidArguments` where it is no tool, the name is taken or belongs to `shed`, or a schema or a description is not valid;
   * `behaviorVersion` where the version that it would have goes away; `permissionDenied` where it may do more than the
   * configuration's `capability` allows.
   */
  register(tool: ToolImpl): void {
    this.#lookup.add(this.#tools.register(tool));
    this.#offer.refresh();
  }

  /** Removes a tool. False where there is none of that name. */
  deregister(name: string): boolean {
    if (!this.#tools.remove(name)) return false;
    this.#offer.refresh();
    this.#offer.deactivate([name]);
    this.#lookup.remove(name);
    this.#attempts.forget(name);
    return true;
  }

  get(name: string): ToolImpl | undefined {
    return this.#tools.find(name)?.impl;
  }

  getDef(name: string): Tool | undefined {
    return this.#tools.declaration(name);
  }

  /** What a tool says of itself, with the kind that the configuration gives it. */
  metadata(name: string): ToolMetadata | undefined {
    return this.#tools.find(name)?.metadata;
  }

  /**
   * What a host shows and logs of a call, without running it; its `input` is of the arguments that the tool would run with,
   * and absent where they do not fit. Undefined where there is no such tool.
   */
  callInfo(request: ToolCallRequest): CallInfo | undefined {
    return this.#attempts.info(request);
  }

  /** In the order of registration. `shed` is not among them. */
  names(): string[] {
    return this.#tools.names();
  }

  /** The arguments as the tool will get them. Throws ToolError `unknownTool` or `invalidArguments`. */
  validateArguments(request: ToolCallRequest): ToolArguments {
    return this.#attempts.prepare(request);
  }

  /** Runs one call once, active or not. Throws ToolError. */
  async executeOne(request: ToolCallRequest, options: CallRunOptions = {}): Promise<ToolCallResult> {
    return resultOf(await this.#attempts.once(this.#attempts.target(request).request, options));
  }

  /** Runs one call, again where it failed in a way that may pass; see {@link ToolRetryConfig}. Throws ToolError. */
  async executeWithRetry(request: ToolCallRequest, options: CallRunOptions = {}): Promise<ToolCallResult> {
    return resultOf(await this.#attempts.withRetry(this.#attempts.target(request).request, options));
  }

  /** Runs one call once: progress, then exactly one result or error. Never throws. */
  stream(request: ToolCallRequest, options: CallRunOptions = {}): AsyncGenerator<ToolEvent, void, void> {
    return this.#attempts.stream(request, options);
  }

  /** Orders a batch of calls. Throws ToolError `invalidArguments`, naming the ids, for a cycle or an unknown id. */
  buildWorkflow(requests: readonly ToolCallRequest[]): ToolCallWorkflow {
    return this.#batches.order(requests);
  }

  /** Runs a workflow; the outcomes come in the order of the calls. Rejects only where `before` or `after` does. */
  runWorkflow(workflow: ToolCallWorkflow, options: RunOptions = {}): AsyncGenerator<ToolCallOutcome, void, void> {
    return this.#batches.run(workflow, options);
  }

  /** Orders a batch and runs it. A batch that cannot be ordered gives every call the same error, and none runs. */
  runCalls(
    requests: readonly ToolCallRequest[],
    options: RunOptions = {},
  ): AsyncGenerator<ToolCallOutcome, void, void> {
    return this.#batches.orderAndRun(requests, options);
  }

  /**
   * Changes when failed calls of one tool are tried again; what is left out stays as it is. Throws ToolError
   * `invalidArguments` for a value that cannot be: a number that is none, or less than nothing.
   */
  setRetryConfig(name: string, config: Partial<ToolRetryConfig>): void {
    this.#attempts.setRetryConfig(name, config);
  }

  retryConfig(name: string): ToolRetryConfig {
    return this.#attempts.retryConfig(name);
  }

  /** The tools that fit a description, best first. Activates nothing. `limit` defaults to 5. */
  searchTools(query: string, limit = 5, options: { signal?: AbortSignal | undefined } = {}): Promise<ToolHit[]> {
    return this.#lookup.search(query, limit, options.signal);
  }

  /**
   * Searches by meaning too, from now on. Embeds the tools that are there; later ones when they are searched. An
   * embedder that fails is among the `warnings`, and searches go by words until it answers. Rejects only where `signal`
   * aborts.
   */
  enableDiscovery(embedder: Embedder, options: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    return this.#lookup.useEmbedder(embedder, options.signal);
  }

  /**
   * Fills the names of tools into a text, by the templates of tool descriptions: `${{ tools.by_kind.read }}`. A text
   * that cannot be filled in comes back without its markers.
   */
  renderPrompt(template: string, extra: { [key: string]: JsonValue } = {}): string {
    return this.#tools.registry.renderPrompt(template, extra);
  }

  /** What the tools remember, for the session's log. Undefined where no tool remembers anything. */
  get states(): ToolStates | undefined {
    return this.#tools.registry.states;
  }

  /** What was left out, what is old, and an embedder that failed when it was last asked. */
  get warnings(): readonly ToolSetWarning[] {
    const { warnings: before = [], set } = this.#options;
    const warnings = [...before, ...(set?.warnings ?? []), ...this.#tools.registry.warnings];
    const fault = this.#lookup.embedderFault;
    if (fault === undefined) return warnings;
    const message = `Tools are looked up by words alone, since the embedder failed: ${fault}`;
    return [...warnings, { tool: "(global)", category: "embedder", message }];
  }

  /** Writes what the tools remember to the file it was built with. Rejects where that fails. */
  async flush(): Promise<void> {
    await this.#options.set?.flush();
  }

  /** Ends what the tools' packages run in the background, and what tools left to be released. */
  async close(): Promise<void> {
    try {
      await this.#options.set?.close();
    } finally {
      await this.resources.dispose();
    }
  }
}
