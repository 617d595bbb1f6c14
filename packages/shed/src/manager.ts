import {
  type CallInfo,
  callInfo,
  type Resources,
  showValue,
  type ToolCallResult,
  ToolError,
  type ToolEvent,
  type ToolImpl,
  type ToolMetadata,
  toToolError,
} from "@shedkit/tool";
import { type BoundTool, bindTool, ToolRegistry, type ToolSetWarning, type ToolStates } from "@shedkit/toolset";
import {
  type ActivatedBy,
  type Embedder,
  functionSpec,
  type JsonValue,
  type SessionId,
  type Tool,
  type ToolArguments,
  type ToolDeclarations,
  toolName,
} from "@shedkit/types";
import { Activations } from "./activation.js";
import { Attempts, unknownTool } from "./attempts.js";
import { isTool } from "./entry.js";
import { effectOf, wantsListing } from "./hooks.js";
import { ToolLookup } from "./lookup.js";
import type { ActivationChange, CallRunOptions, ManagerOptions, RunOptions } from "./options.js";
import { withOrdering } from "./ordering.js";
import { failedOutcome, refuseAll, resultOf, runStages } from "./run.js";
import { SHED_NAME, SHED_TOOL, shedTool } from "./shed-tool.js";
import type {
  ToolCallOutcome,
  ToolCallRequest,
  ToolCallWorkflow,
  ToolHit,
  ToolNotification,
  ToolRetryConfig,
} from "./types.js";
import { buildWorkflow, type Effect } from "./workflow.js";

const MAX_ACTIVE = 40;

/** The tools of one session: which there are, which are active, and how calls of them are run. */
export class ToolCallManager {
  readonly sessionId: SessionId;
  readonly resources: Resources;
  readonly #options: ManagerOptions;
  readonly #tools: ToolRegistry;
  readonly #shed: BoundTool;
  readonly #attempts: Attempts;
  readonly #activations = new Activations();
  readonly #lookup: ToolLookup;
  readonly #listeners = new Set<(change: ActivationChange) => void>();
  readonly #notified = new Set<(notification: ToolNotification) => void>();
  readonly #declared = new Map<string, Tool>();
  #mayUse: (tool: string) => boolean | Promise<boolean> = () => true;
  #offered: ToolDeclarations | undefined;

  constructor(sessionId: SessionId, options: ManagerOptions = {}) {
    const { set, validator } = options;
    this.sessionId = sessionId;
    this.#options = options;
    this.#tools = set?.registry() ?? new ToolRegistry({ resources: options.resources, validator });
    this.resources = this.#tools.resources;
    this.#lookup = new ToolLookup(this.#tools, {
      active: () => this.#activations.names(),
      mayUse: (name) => this.#mayUse(name),
    });
    this.#attempts = new Attempts(
      (name) => (name === SHED_NAME ? this.#shed : this.#tools.find(name)),
      this.#tools,
      sessionId,
      options,
      (notification) => {
        for (const listener of this.#notified) listener(notification);
      },
      (name) => this.#assertUsable(name),
    );
    this.#shed = bindTool(
      shedTool({
        find: (description, limit, ctx) => this.#lookup.find(description, limit, ctx),
        catalog: (ctx) => this.#lookup.catalog(ctx),
        activate: (names, toolCallId) => this.activate(names, { toolCallId }),
      }),
      { validator },
    );
    for (const tool of set?.tools ?? []) this.#declare(tool);
  }

  /** What the next request declares: `shed`, then the active tools in the order in which they became active. */
  offeredTools(): ToolDeclarations {
    this.#offered ??= {
      ...(this.#declared.size === 0 ? {} : { shed: this.shedDefinition() }),
      tools: this.activeDefinitions(),
      activations: this.#activations.entries(),
    };
    return this.#offered;
  }

  activeDefinitions(): readonly Tool[] {
    return Array.from(this.#activations.names(), (name) => this.#declared.get(name) as Tool);
  }

  /** Every registered tool, for inspection. */
  allDeclarations(): ToolDeclarations {
    return { ...this.offeredTools(), tools: [...this.#declared.values()] };
  }

  shedDefinition(): Tool {
    return this.#options.ordering ? ORDERED_SHED : SHED_TOOL;
  }

  isActive(name: string): boolean {
    return this.#activations.has(name);
  }

  /** Declares tools from now on. Throws ToolError `unknownTool`; then none is activated. */
  activate(names: readonly string[], by: ActivatedBy = "call"): void {
    for (const name of names) this.#require(name);
    const tools = this.#activations.add(names, by);
    if (tools.length > 0) this.#changed({ type: "activated", tools, by });
  }

  /** Ceases to declare tools. For the moment at which the prefix of the conversation is new anyway. */
  deactivate(names: readonly string[]): void {
    const tools = this.#activations.remove(names);
    if (tools.length > 0) this.#changed({ type: "deactivated", tools });
  }

  /** At a compaction: deactivates the tools used longest ago, so that `maxActive` stay; returns them. */
  trimActive(): string[] {
    const surplus = this.#activations.surplus(this.#options.maxActive ?? MAX_ACTIVE);
    this.deactivate(surplus);
    return surplus;
  }

  /** Calls back at every change of what is active; returns the function that ends it. */
  onActivation(listener: (change: ActivationChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls back with all that running tools tell the host (`ctx.notify`); returns the function that ends it. */
  onNotify(listener: (notification: ToolNotification) => void): () => void {
    this.#notified.add(listener);
    return () => this.#notified.delete(listener);
  }

  /** Decides which tools `shed` may return, a call of an inactive tool may activate, and a call may run. Default: all. */
  setAccess(mayUse: (tool: string) => boolean | Promise<boolean>): void {
    this.#mayUse = mayUse;
  }

  /**
   * Throws ToolError `unknownTool` or `notActive`. Unless the manager is strict, the latter carries the tool's schema
   * and activates it, so that the next call works.
   */
  checkOffered(name: string): void {
    if (name === SHED_NAME || this.isActive(name)) return;
    const { metadata, definition } = this.#require(name);
    const listed = wantsListing(metadata, { activeTools: [...this.#activations.names()] });
    if (this.#options.strict || !listed) {
      const advice = "It is not active. Look tools up with shed first; what it returns can be called.";
      throw new ToolError("notActive", name, `The tool "${name}" did not run. ${advice}`);
    }
    this.activate([name], "call");
    const schema = JSON.stringify(functionSpec(definition).parameters);
    const advice = `It was not active; it is now. Call it again with arguments that fit this schema: ${schema}`;
    throw new ToolError("notActive", name, `The tool "${name}" did not run. ${advice}`);
  }

  /**
   * Adds a tool. A search finds it at once; its settings are its defaults, its description is filled in with the names
   * of the tools that are there, and what it remembered before it was removed it still does. Throws ToolError
   * `invalidArguments` where it is no tool, the name is taken or belongs to `shed`, or a schema or a description is not valid;
   * `behaviorVersion` where the version that it would have goes away; `permissionDenied` where it may do more than the
   * configuration's `capability` allows.
   */
  register(tool: ToolImpl): void {
    if (!isTool(tool)) {
      const message = `A tool is an object with definition() and execute(), and this is ${showValue(tool)}.`;
      throw new ToolError("invalidArguments", "tool", message);
    }
    const name = toolName(tool.definition());
    if (name === SHED_NAME)
      throw new ToolError("invalidArguments", name, `No tool may be named "${name}": give it another name.`);
    this.#declare(this.#tools.register(tool));
  }

  /** Removes a tool. False where there is none of that name. */
  deregister(name: string): boolean {
    if (!this.#tools.unregister(name)) return false;
    this.deactivate([name]);
    this.#declared.delete(name);
    this.#lookup.remove(name);
    this.#attempts.forget(name);
    this.#offered = undefined;
    return true;
  }

  get(name: string): ToolImpl | undefined {
    return this.#tools.find(name)?.impl;
  }

  getDef(name: string): Tool | undefined {
    return this.#declared.get(name);
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
    const tool = request.name === SHED_NAME ? this.#shed : this.#tools.find(request.name);
    if (tool === undefined) return undefined;
    let args: ToolArguments | undefined;
    try {
      args = this.#attempts.prepare(request);
    } catch {
      // the call itself tells why
    }
    return callInfo(tool.name, tool.metadata, args);
  }

  /** In the order of registration. `shed` is not among them. */
  names(): string[] {
    return [...this.#declared.keys()];
  }

  /** The arguments as the tool will get them. Throws ToolError `unknownTool` or `invalidArguments`. */
  validateArguments(request: ToolCallRequest): ToolArguments {
    return this.#attempts.prepare(request);
  }

  /** Runs one call once, active or not. Throws ToolError. */
  async executeOne(request: ToolCallRequest, options: CallRunOptions = {}): Promise<ToolCallResult> {
    return resultOf(await this.#attempts.once(request, options));
  }

  /** Runs one call, again where it failed in a way that may pass; see {@link ToolRetryConfig}. Throws ToolError. */
  async executeWithRetry(request: ToolCallRequest, options: CallRunOptions = {}): Promise<ToolCallResult> {
    return resultOf(await this.#attempts.withRetry(request, options));
  }

  /** Runs one call once: progress, then exactly one result or error. Never throws. */
  async *stream(request: ToolCallRequest, options: CallRunOptions = {}): AsyncGenerator<ToolEvent, void, void> {
    for await (const event of this.#attempts.events(request, options)) {
      if (event.type === "progress") yield event;
      else if (event.outcome.error) yield { type: "error", error: event.outcome.error };
      else yield { type: "result", result: resultOf(event.outcome) };
    }
  }

  /** Orders a batch of calls. Throws ToolError `invalidArguments`, naming the ids, for a cycle or an unknown id. */
  buildWorkflow(requests: readonly ToolCallRequest[]): ToolCallWorkflow {
    const take = (request: ToolCallRequest) => this.#attempts.takeAfter(request);
    return buildWorkflow(requests, (request) => this.#effectOf(request), this.#options.ordering ? take : undefined);
  }

  /** Runs a workflow; the outcomes come in the order of the calls. Rejects only where `before` or `after` does. */
  runWorkflow(workflow: ToolCallWorkflow, options: RunOptions = {}): AsyncGenerator<ToolCallOutcome, void, void> {
    const runCall = (request: ToolCallRequest, signal: AbortSignal) =>
      this.#runCall(request, signal === options.signal ? options : { ...options, signal });
    return runStages(workflow, runCall, options);
  }

  /** Orders a batch and runs it. A batch that cannot be ordered gives every call the same error, and none runs. */
  runCalls(
    requests: readonly ToolCallRequest[],
    options: RunOptions = {},
  ): AsyncGenerator<ToolCallOutcome, void, void> {
    let workflow: ToolCallWorkflow;
    try {
      workflow = this.buildWorkflow(requests);
    } catch (error) {
      return refuseAll(requests, error, options);
    }
    return this.runWorkflow(workflow, options);
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
    return this.#tools.renderPrompt(template, extra);
  }

  /** What the tools remember, for the session's log. Undefined where no tool remembers anything. */
  get states(): ToolStates | undefined {
    return this.#tools.states;
  }

  /** What was left out, what is old, and an embedder that failed when it was last asked. */
  get warnings(): readonly ToolSetWarning[] {
    const { warnings: before = [], set } = this.#options;
    const warnings = [...before, ...(set?.warnings ?? []), ...this.#tools.warnings];
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

  /** Begins at once where nobody has to be asked. */
  #runCall(request: ToolCallRequest, options: RunOptions): ToolCallOutcome | Promise<ToolCallOutcome> {
    const run = () => {
      this.#activations.touch(request.name);
      return this.#attempts.withRetry(request, options);
    };
    if (!options.offeredOnly) return run();
    const refused = (error: unknown) => failedOutcome(request, toToolError(error, request.name));
    try {
      const asking = this.#assertUsable(request.name);
      if (asking) return asking.then(() => this.checkOffered(request.name)).then(run, refused);
      this.checkOffered(request.name);
    } catch (error) {
      return refused(error);
    }
    return run();
  }

  /** Throws ToolError `unauthorized`; at once where nobody has to be asked. */
  #assertUsable(name: string): void | Promise<void> {
    if (name === SHED_NAME || !this.#declared.has(name)) return;
    const usable = this.#mayUse(name);
    if (typeof usable !== "boolean") return Promise.resolve(usable).then((may) => assertMay(name, may));
    assertMay(name, usable);
  }

  #declare(tool: BoundTool): void {
    const { name, definition } = tool;
    this.#declared.set(name, this.#options.ordering ? withOrdering(definition) : definition);
    this.#lookup.add(tool);
    this.#offered = undefined;
  }

  #effectOf(request: ToolCallRequest): Effect {
    const tool = request.name === SHED_NAME ? this.#shed : this.#tools.find(request.name);
    return effectOf(request, tool, (each) => this.#attempts.prepare(each));
  }

  /** Throws ToolError `unknownTool`; also for `shed`, which is no tool of the session's. */
  #require(name: string): BoundTool {
    const tool = this.#tools.find(name);
    if (tool === undefined) throw unknownTool(name);
    return tool;
  }

  #changed(change: ActivationChange): void {
    this.#offered = undefined;
    for (const listener of this.#listeners) listener(change);
  }
}

function assertMay(name: string, may: boolean): void {
  if (!may) throw new ToolError("unauthorized", name, `The tool "${name}" may not be used here.`);
}

const ORDERED_SHED = withOrdering(SHED_TOOL);
