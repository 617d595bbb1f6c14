import {
  keptResults,
  type Resources,
  runTool,
  ToolCallResult,
  type ToolContext,
  ToolError,
  toToolError,
} from "@shedkit/tool";
import { type JsonValue, type SessionId, type ToolArguments, textOfContent } from "@shedkit/types";
import { capContent, MAX_RESULT_BYTES } from "./cap.js";
import type { BoundTool, DispatchCall, DispatchEvent, DispatchOptions, DispatchOutcome } from "./contract.js";
import { MemoryKeptResults } from "./kept.js";

export interface DispatcherOptions {
  /** The tool of that client name. */
  find(name: string): BoundTool | undefined;
  /** What running tools may use. */
  resources: Resources;
  sessionId?: SessionId | undefined;
  /** Hears what tools tell the host. Default: nobody. */
  onNotify?: ((tool: string, name: string, data: JsonValue | undefined) => void) | undefined;
}

/** Runs calls: finds the tool, prepares its arguments, runs it, and makes of what came what the model gets. */
export class Dispatcher {
  readonly #options: DispatcherOptions;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    options.resources.getOrDefault(keptResults, () => new MemoryKeptResults());
  }

  /** Progress any number of times, then exactly one outcome. Never throws. */
  async *stream(call: DispatchCall, options: DispatchOptions = {}): AsyncGenerator<DispatchEvent, void, void> {
    let repaired: readonly string[] = [];
    try {
      const tool = this.#options.find(call.name);
      if (tool === undefined) throw new ToolError("unknownTool", call.name, `There is no tool named "${call.name}".`);
      const prepared = tool.prepare(call.arguments);
      repaired = prepared.repaired;
      const ctx = this.#context(tool, call, options, true);
      for await (const event of runTool(tool.impl, prepared.args, ctx, tool.metadata.capabilities.timeoutMs)) {
        if (event.type === "progress") yield event;
        else if (event.type === "error") throw event.error;
        else yield { type: "done", outcome: this.#succeeded(tool, call, tool.checkResult(event.result), repaired) };
      }
    } catch (e) {
      yield { type: "done", outcome: failed(call, toToolError(e, call.name), repaired) };
    }
  }

  /** The outcome alone. Never rejects. */
  async run(
    call: DispatchCall,
    options: DispatchOptions & {
      onProgress?: ((event: DispatchEvent & { type: "progress" }) => void) | undefined;
    } = {},
  ): Promise<DispatchOutcome> {
    for await (const event of this.stream(call, options)) {
      if (event.type === "done") return event.outcome;
      options.onProgress?.(event);
    }
    // `stream` always ends with an outcome; its type cannot say so.
    return failed(call, new ToolError("custom", call.name, `${call.name} ended without a result.`), []);
  }

  #context(tool: BoundTool, call: DispatchCall, options: DispatchOptions, outer: boolean): ToolContext {
    const { resources, sessionId, onNotify } = this.#options;
    const signal = options.signal ?? new AbortController().signal;
    return {
      callId: call.id,
      signal,
      resources,
      sessionId,
      turnId: options.turnId,
      names: { tool: tool.name, param: (canonical) => canonical },
      notify: (name, data) => onNotify?.(tool.name, name, data),
      ...(outer ? { dispatch: (name: string, args: ToolArguments) => this.#inner(call, name, args, options) } : {}),
    };
  }

  /** A call made by a running tool: no reminders, no cutting, no further calls from inside it. */
  async #inner(
    outer: DispatchCall,
    name: string,
    args: ToolArguments,
    options: DispatchOptions,
  ): Promise<ToolCallResult> {
    const tool = this.#options.find(name);
    if (tool === undefined) throw new ToolError("unknownTool", name, `There is no tool named "${name}".`);
    const call = { id: outer.id, name, arguments: args };
    const { args: prepared } = tool.prepare(args);
    const ctx = this.#context(tool, call, options, false);
    for await (const event of runTool(tool.impl, prepared, ctx, tool.metadata.capabilities.timeoutMs)) {
      if (event.type === "result") return tool.checkResult(event.result);
      if (event.type === "error") throw event.error;
    }
    throw new ToolError("custom", name, `${name} ended without a result.`);
  }

  #succeeded(
    tool: BoundTool,
    call: DispatchCall,
    result: ToolCallResult,
    repaired: readonly string[],
  ): DispatchOutcome {
    const max = tool.metadata.capabilities.maxResultBytes ?? MAX_RESULT_BYTES;
    const { content, handle } = capContent(result.content, max, call.id, this.#options.resources);
    return {
      call,
      result,
      content,
      promptText: textOfContent(content),
      ...(result.errorDetail === undefined ? {} : { errorDetail: result.errorDetail }),
      ...(handle === undefined ? {} : { handle }),
      ...(repaired.length === 0 ? {} : { repaired }),
    };
  }
}

function failed(call: DispatchCall, error: ToolError, repaired: readonly string[]): DispatchOutcome {
  const { content } = ToolCallResult.failure(error.kind, error.message);
  return {
    call,
    error,
    content,
    promptText: error.message,
    errorDetail: error.kind,
    ...(repaired.length === 0 ? {} : { repaired }),
  };
}
