import { type CallInfo, callInfo, type PreparedArguments, ToolError, type ToolEvent, toToolError } from "@shedkit/tool";
import { type BoundTool, bindTool, type DispatchCall, Dispatcher, Reminders } from "@shedkit/toolset";
import { AgenticError, type JsonValue, type SessionId, type ToolArguments } from "@shedkit/types";
import type { Access } from "../access.js";
import type { ToolLookup } from "../lookup.js";
import type { CallRunOptions, ManagerOptions, RunOptions } from "../options.js";
import type { SessionTools } from "../session-tools.js";
import { SHED_NAME, shedTool } from "../shed-tool.js";
import type { ToolCallOutcome, ToolCallRequest, ToolNotification, ToolRetryConfig } from "../types.js";
import { USE_TOOL_NAME, UseTool } from "../use-tool.js";
import { takeAfter } from "./ordering.js";
import { failedOutcome, ranOutcome, resultOf, unknownTool } from "./outcomes.js";
import { backoffMs, changedRetry, defaultRetry, systemClock } from "./retry.js";
import type { TakeAfter } from "./workflow.js";

/** What a call of another tool by `use_tool` is told with. */
export type Passed = (outcome: ToolCallOutcome) => ToolCallOutcome;

/** Arguments, and the tool that they were made ready for. */
interface Prepared extends PreparedArguments {
  tool: BoundTool;
}

/** How single calls run: once, or again where a failure may pass. */
export class Attempts {
  readonly #tools: SessionTools;
  readonly #lookup: ToolLookup;
  /** Made when it is first called. */
  #shed: BoundTool | undefined;
  readonly #access: Access;
  readonly #use: UseTool | undefined;
  readonly #options: ManagerOptions;
  readonly #dispatcher: Dispatcher;
  /** What differs from the default. */
  #retry: Map<string, ToolRetryConfig> | undefined;
  #listeners: readonly ((notification: ToolNotification) => void)[] = [];

  constructor(
    sessionId: SessionId,
    { tools, lookup, access }: { tools: SessionTools; lookup: ToolLookup; access: Access },
    options: ManagerOptions,
  ) {
    this.#tools = tools;
    this.#lookup = lookup;
    this.#access = access;
    this.#use = options.callByName && new UseTool(lookup, options.callByName, options);
    this.#options = options;
    const { registry } = tools;
    const hooks = {
      find: (name: string) => this.find(name),
      tools: registry,
      onNotify: (tool: string, name: string, data: JsonValue | undefined, toolCallId: string) =>
        this.#notify({ toolCallId, tool, name, ...(data !== undefined && { data }) }),
    };
    const { resources } = registry;
    this.#dispatcher = options.set
      ? options.set.dispatcher(hooks)
      : new Dispatcher({ ...hooks, resources, sessionId, reminders: new Reminders({ reminders: [] }) });
  }

  /** The tool that a call of that name runs. */
  find(name: string): BoundTool | undefined {
    if (name !== SHED_NAME) return this.#tools.find(name);
    this.#shed ??= bindTool(shedTool(this.#lookup), { validator: this.#options.validator });
    return this.#shed;
  }

  /**
   * The call that is to run: of `use_tool`, that of the tool it names; then `passed` is there. Throws ToolError where
   * that cannot be called by it.
   */
  target(request: ToolCallRequest): { request: ToolCallRequest; passed?: Passed | undefined } {
    if (this.#use === undefined || request.name !== USE_TOOL_NAME) return { request };
    const { request: target, repaired } = this.#use.target(request);
    const passed = (outcome: ToolCallOutcome): ToolCallOutcome => {
      const all = [...repaired, ...(outcome.repaired ?? [])];
      const { effectiveName = target.name } = outcome;
      return { ...outcome, effectiveName, ...(all.length > 0 && { repaired: all }) };
    };
    return { request: target, passed };
  }

  /** Calls back with what running tools tell; returns the function that ends it. */
  onNotify(listener: (notification: ToolNotification) => void): () => void {
    this.#listeners = this.#listeners.concat(listener);
    return () => {
      this.#listeners = this.#listeners.filter((each) => each !== listener);
    };
  }

  /** Of a tool that was removed. */
  forget(name: string): void {
    this.#retry?.delete(name);
  }

  setRetryConfig(name: string, config: Partial<ToolRetryConfig>): void {
    const changed = changedRetry(name, this.retryConfig(name), config);
    this.#retry ??= new Map();
    this.#retry.set(name, changed);
  }

  retryConfig(name: string): ToolRetryConfig {
    return this.#retry?.get(name) ?? defaultRetry;
  }

  /** The arguments as the tool will get them. Throws ToolError `unknownTool` or `invalidArguments`. */
  prepare(request: ToolCallRequest): ToolArguments {
    return this.#prepared(this.target(request).request).args;
  }

  /** What a host shows of a call: of the arguments as the tool will get them, or of none where they do not fit. */
  info(given: ToolCallRequest): CallInfo | undefined {
    let request = given;
    try {
      request = this.target(given).request;
    } catch {
      return undefined;
    }
    const tool = this.find(request.name);
    if (tool === undefined) return undefined;
    let args: ToolArguments | undefined;
    try {
      args = this.prepare(request);
    } catch {
      // the call itself tells why
    }
    return callInfo(tool.name, tool.metadata, args);
  }

  /** Once: progress, then exactly one result or error. */
  async *stream(request: ToolCallRequest, { signal, turnId }: CallRunOptions): AsyncGenerator<ToolEvent, void, void> {
    let call: DispatchCall;
    try {
      const { request: target } = this.target(request);
      call = { id: target.id, name: target.name, arguments: this.#argumentsOf(target) };
    } catch (fault) {
      yield { type: "error", error: toToolError(fault, request.name) };
      return;
    }
    for await (const event of this.#dispatcher.stream(call, { signal, turnId })) {
      if (event.type === "progress") yield event;
      else if (event.outcome.error) yield { type: "error", error: event.outcome.error };
      else yield { type: "result", result: resultOf(event.outcome) };
    }
  }

  /** Never rejects. */
  once(
    request: ToolCallRequest,
    options: RunOptions,
    attempts = 1,
    prepared?: Prepared | undefined,
  ): Promise<ToolCallOutcome> {
    const call = { id: request.id, name: request.name, arguments: this.#argumentsOf(request) };
    const done = this.#dispatcher.run(call, {
      signal: options.signal,
      turnId: options.turnId,
      prepared: prepared && this.#holds(prepared) ? prepared : undefined,
      beforeInner: async (inner, _, signal) => {
        if (options.offeredOnly) await this.#access.assert(inner.name); // what the model may not use it may not have used for it
        await options.beforeInner?.(requestOf(inner), request, signal);
      },
      onProgress: ({ type: _, ...progress }) => options.progress?.(request, progress),
    });
    return done.then((outcome) => ranOutcome(request, attempts, outcome));
  }

  /** Arguments are checked before anybody is asked for leave. Rejects only where `before` throws no ToolError. */
  async withRetry(request: ToolCallRequest, options: RunOptions): Promise<ToolCallOutcome> {
    let prepared: Prepared;
    try {
      prepared = this.#prepared(request);
    } catch (fault) {
      return failedOutcome(request, toToolError(fault, request.name));
    }
    for (let attempts = 1; ; attempts++) {
      try {
        await options.before?.(request, attempts);
      } catch (fault) {
        if (!AgenticError.is(fault, "tool")) throw fault;
        return failedOutcome(request, toToolError(fault, request.name), attempts - 1);
      }
      const ready = attempts === 1 ? prepared : undefined;
      const outcome = await (options.around
        ? options.around(request, () => this.once(request, options, attempts, ready))
        : this.once(request, options, attempts, ready));
      const wait = this.#backoff(outcome);
      if (wait === undefined) return outcome;
      await (this.#options.clock ?? systemClock).sleep(wait, options.signal);
      if (options.signal?.aborted) {
        const message = `${request.name} was cancelled before it was tried again.`;
        return failedOutcome(request, new ToolError("cancelled", request.name, message), attempts);
      }
    }
  }

  #prepared(request: ToolCallRequest): Prepared {
    const tool = this.find(request.name);
    if (tool === undefined) throw unknownTool(request.name);
    return { tool, ...tool.prepare(this.#argumentsOf(request)) };
  }

  #notify(notification: ToolNotification): void {
    for (const listener of this.#listeners) listener(notification);
  }

  #backoff({ request, error, attempts }: ToolCallOutcome): number | undefined {
    if (error === undefined) return undefined;
    const config = this.retryConfig(request.name);
    const idempotent = this.find(request.name)?.metadata.capabilities.idempotent ?? false;
    if (!idempotent && !config.anyTool) return undefined;
    return backoffMs(error, attempts, config, (this.#options.clock ?? systemClock).random);
  }

  /** Another tool may have taken its place meanwhile, and one that is not ready yet checks again. */
  #holds({ tool }: Prepared): boolean {
    return tool.ready === undefined && this.find(tool.name) === tool;
  }

  /** For a session whose model orders its calls. */
  takeAfter(request: ToolCallRequest): ReturnType<TakeAfter> {
    if (this.#use !== undefined && request.name === USE_TOOL_NAME) return { request, after: this.#afterOf(request) };
    return takeAfter(request, this.find(request.name)?.definition);
  }

  /** Of a call by `use_tool`, which may have it in its own arguments or in those of the tool. */
  #afterOf(request: ToolCallRequest): unknown {
    try {
      return this.takeAfter(this.target(request).request).after;
    } catch {
      return undefined; // it is refused when its turn comes
    }
  }

  /** The text where there is one: it holds long integers that an object has lost. */
  #argumentsOf(request: ToolCallRequest): unknown {
    const { rawArguments, arguments: args } = this.#options.ordering ? this.takeAfter(request).request : request;
    return rawArguments ?? args;
  }
}

function requestOf({ id, name, arguments: args }: DispatchCall): ToolCallRequest {
  if (typeof args === "string") return { id, name, arguments: {}, rawArguments: args };
  return { id, name, arguments: (args ?? {}) as ToolArguments };
}
