import { type PreparedArguments, ToolError, toToolError } from "@shedkit/tool";
import {
  type BoundTool,
  type DispatchCall,
  type DispatchEvent,
  Dispatcher,
  type DispatchOutcome,
  Reminders,
  type ToolRegistry,
} from "@shedkit/toolset";
import { AgenticError, type JsonValue, type SessionId, type ToolArguments } from "@shedkit/types";
import type { CallRunOptions, ManagerOptions, RunOptions } from "./options.js";
import { takeAfter } from "./ordering.js";
import { backoffMs, changedRetry, defaultRetry, systemClock } from "./retry.js";
import { failedOutcome } from "./run.js";
import type { ToolCallOutcome, ToolCallRequest, ToolNotification, ToolRetryConfig } from "./types.js";
import type { TakeAfter } from "./workflow.js";

/** Arguments, and the tool that they were made ready for. */
interface Prepared extends PreparedArguments {
  tool: BoundTool;
}

/** How single calls run: once, or again where a failure may pass. */
export class Attempts {
  readonly #find: (name: string) => BoundTool | undefined;
  readonly #retry = new Map<string, ToolRetryConfig>();
  readonly #options: ManagerOptions;
  readonly #dispatcher: Dispatcher;
  readonly #assertUsable: (name: string) => void | Promise<void>;

  constructor(
    find: (name: string) => BoundTool | undefined,
    tools: ToolRegistry,
    sessionId: SessionId,
    options: ManagerOptions,
    onNotify: (notification: ToolNotification) => void,
    assertUsable: (name: string) => void | Promise<void>,
  ) {
    this.#find = find;
    this.#assertUsable = assertUsable;
    this.#options = options;
    const { resources } = tools;
    const hooks = {
      find,
      tools,
      onNotify: (tool: string, name: string, data: JsonValue | undefined, toolCallId: string) =>
        onNotify({ toolCallId, tool, name, ...(data !== undefined && { data }) }),
    };
    this.#dispatcher = options.set
      ? options.set.dispatcher(hooks)
      : new Dispatcher({ ...hooks, resources, sessionId, reminders: new Reminders({ reminders: [] }) });
  }

  /** Of a tool that was removed. */
  forget(name: string): void {
    this.#retry.delete(name);
  }

  setRetryConfig(name: string, config: Partial<ToolRetryConfig>): void {
    this.#retry.set(name, changedRetry(name, this.retryConfig(name), config));
  }

  retryConfig(name: string): ToolRetryConfig {
    return this.#retry.get(name) ?? defaultRetry;
  }

  /** Throws ToolError `unknownTool` or `invalidArguments`. */
  prepare(request: ToolCallRequest): ToolArguments {
    const tool = this.#find(request.name);
    if (tool === undefined) throw unknownTool(request.name);
    return tool.prepare(this.#argumentsOf(request)).args;
  }

  events(request: ToolCallRequest, { signal, turnId }: CallRunOptions): AsyncIterable<DispatchEvent> {
    const call = { id: request.id, name: request.name, arguments: this.#argumentsOf(request) };
    return this.#dispatcher.stream(call, { signal, turnId });
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
        if (options.offeredOnly) await this.#assertUsable(inner.name); // what the model may not use it may not have used for it
        await options.beforeInner?.(requestOf(inner), request, signal);
      },
      onProgress: ({ type: _, ...progress }) => options.progress?.(request, progress),
    });
    return done.then((outcome) => outcomeOf(request, attempts, outcome));
  }

  /** Arguments are checked before anybody is asked for leave. Rejects only where `before` throws no ToolError. */
  async withRetry(request: ToolCallRequest, options: RunOptions): Promise<ToolCallOutcome> {
    let prepared: Prepared;
    try {
      const tool = this.#find(request.name);
      if (tool === undefined) throw unknownTool(request.name);
      prepared = { tool, ...tool.prepare(this.#argumentsOf(request)) };
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

  #backoff({ request, error, attempts }: ToolCallOutcome): number | undefined {
    if (error === undefined) return undefined;
    const config = this.retryConfig(request.name);
    const idempotent = this.#find(request.name)?.metadata.capabilities.idempotent ?? false;
    if (!idempotent && !config.anyTool) return undefined;
    return backoffMs(error, attempts, config, (this.#options.clock ?? systemClock).random);
  }

  /** Another tool may have taken its place meanwhile, and one that is not ready yet checks again. */
  #holds({ tool }: Prepared): boolean {
    return tool.ready === undefined && this.#find(tool.name) === tool;
  }

  /** For a session whose model orders its calls. */
  takeAfter(request: ToolCallRequest): ReturnType<TakeAfter> {
    return takeAfter(request, this.#find(request.name)?.definition);
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

function outcomeOf(request: ToolCallRequest, attempts: number, done: DispatchOutcome): ToolCallOutcome {
  const { content, promptText, result, error, errorDetail, effectiveName, repaired } = done;
  const outcome: ToolCallOutcome = { request, content, promptText, attempts };
  if (result !== undefined) outcome.result = result;
  if (error !== undefined) outcome.error = error;
  if (errorDetail !== undefined) outcome.errorDetail = errorDetail;
  if (effectiveName !== undefined) outcome.effectiveName = effectiveName;
  if (repaired !== undefined) outcome.repaired = repaired;
  return outcome;
}

export function unknownTool(name: string): ToolError {
  return new ToolError("unknownTool", name, `There is no tool "${name}". Look tools up with shed.`);
}
