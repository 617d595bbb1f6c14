import {
  CallTimer,
  escapeTag,
  keptResults,
  type Resources,
  runTool,
  runToolToEnd,
  settle,
  ToolCallResult,
  type ToolContext,
  ToolError,
  type ToolEvent,
  toToolError,
  wrapperTag,
} from "@shedkit/tool";
import { type ContentPart, type JsonValue, type SessionId, type ToolArguments, textOfContent } from "@shedkit/types";
import { capContent, MAX_ERROR_BYTES, MAX_RESULT_BYTES } from "./cap.js";
import type { BoundTool, DispatchCall, DispatchEvent, DispatchOptions, DispatchOutcome } from "./contract.js";
import { type Gate, Gates } from "./gate.js";
import { MemoryKeptResults } from "./kept.js";
import type { ToolRegistry } from "./registry.js";
import type { Reminders } from "./reminders.js";
import type { RequiredTool } from "./requirement.js";
import { namedTool, ToolNames } from "./template/context.js";

/** What calls find their tools in, and what those may use. */
export interface DispatcherOptions {
  /** The tool of that client name. */
  find(name: string): BoundTool | undefined;
  /** What the tools know of each other: for the messages of tools, and what reminders require. Default: nothing. */
  tools?: Pick<ToolRegistry, "byKind" | "required"> | undefined;
  /** What running tools may use. */
  resources: Resources;
  sessionId?: SessionId | undefined;
  /** What is said to the model after calls that went well. Default: nothing. */
  reminders?: Reminders | undefined;
  /** Hears what tools tell the host, and in which call. Default: nobody. */
  onNotify?: ((tool: string, name: string, data: JsonValue | undefined, callId: string) => void) | undefined;
}

/** Runs calls: finds the tool, prepares its arguments, runs it, and makes of what came what the model gets. */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #gates = new Gates();

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Progress any number of times, then exactly one outcome. Never throws. */
  async *stream(call: DispatchCall, options: DispatchOptions = {}): AsyncGenerator<DispatchEvent, void, void> {
    const run: Run = { call, repaired: [] };
    try {
      const begun = await this.#begin(run, options);
      const { tool, args, ctx, target } = begun;
      try {
        for await (const event of runTool(tool.impl, args, ctx, target.timer)) {
          if (event.type === "progress") yield event;
          else yield { type: "done", outcome: await this.#ended(run, begun, event) };
        }
      } finally {
        leave(run);
      }
    } catch (e) {
      yield { type: "done", outcome: this.#failed(run, e) };
    }
  }

  /** The outcome alone. Rejects with nothing but what `onProgress` throws. */
  async run(
    call: DispatchCall,
    options: DispatchOptions & {
      onProgress?: ((event: DispatchEvent & { type: "progress" }) => void) | undefined;
    } = {},
  ): Promise<DispatchOutcome> {
    const run: Run = { call, repaired: [] };
    let fault: { thrown: unknown } | undefined;
    const onProgress = (event: DispatchEvent & { type: "progress" }): void => {
      try {
        options.onProgress?.(event);
      } catch (thrown) {
        fault = { thrown };
        throw thrown;
      }
    };
    try {
      const beginning = this.#begin(run, options);
      const begun = beginning instanceof Promise ? await beginning : beginning;
      const { tool, args, ctx, target } = begun;
      return await this.#ended(run, begun, await runToolToEnd(tool.impl, args, ctx, target.timer, onProgress));
    } catch (e) {
      if (fault !== undefined) throw fault.thrown;
      return this.#failed(run, e);
    } finally {
      leave(run);
    }
  }

  /** Finds the tool, makes its arguments ready, and waits for a place; a call that waits for nothing begins at once. */
  #begin(run: Run, options: DispatchOptions): Begun | Promise<Begun> {
    const { call } = run;
    const tool = this.#options.find(call.name);
    if (tool === undefined) throw new ToolError("unknownTool", call.name, `There is no tool named "${call.name}".`);
    const waits = tool.ready !== undefined || tool.metadata.capabilities.maxConcurrency !== undefined;
    return waits ? this.#beginLater(run, tool, options) : this.#begun(run, tool, options);
  }

  async #beginLater(run: Run, tool: BoundTool, options: DispatchOptions): Promise<Begun> {
    if (tool.ready !== undefined) await tool.ready;
    const begun = this.#begun(run, tool, options);
    if (tool.metadata.capabilities.maxConcurrency !== undefined) {
      run.gate = await this.#gates.enter(tool, options.signal);
      begun.target.holder = tool;
    }
    return begun;
  }

  #begun(run: Run, tool: BoundTool, options: DispatchOptions): Begun {
    const { call } = run;
    const { args, repaired } = options.prepared ?? tool.prepare(call.arguments);
    run.repaired = repaired;
    const target: InnerTarget = { timer: new CallTimer(tool.metadata.capabilities.timeoutMs), made: 0 };
    run.target = target;
    return { tool, args, ctx: this.#context(tool, call, options, target), target };
  }

  #context(
    tool: BoundTool,
    call: DispatchCall,
    options: DispatchOptions,
    target: InnerTarget | undefined,
  ): ToolContext {
    const { resources, sessionId, onNotify, reminders } = this.#options;
    resources.getOrDefault(keptResults, () => new MemoryKeptResults()); // the tool may keep what is long
    if (reminders !== undefined) resources.getOrDefault(wrapperTag, () => reminders.tag);
    const names = (): ToolNames => this.#options.tools?.byKind ?? new ToolNames([namedTool(tool)]);
    return {
      callId: call.id,
      signal: options.signal ?? new AbortController().signal,
      resources,
      sessionId,
      turnId: options.turnId,
      version: tool.version,
      names: {
        tool: tool.name,
        param: tool.paramName,
        toolOf: (kind, id) => names().tool(kind, id),
        paramOf: (kind, canonical) => names().param(kind, canonical),
      },
      notify: (name, data) => onNotify?.(tool.name, name, data, call.id),
      ...(target && {
        dispatch: (name: string, args: unknown) => this.#inner(call, name, args, options, target),
      }),
    };
  }

  /**
   * A call made by a running tool: no reminders, no cutting, no further calls from inside it. It needs the same leave as
   * any call, and a place as any call.
   */
  async #inner(
    outer: DispatchCall,
    name: string,
    args: unknown,
    options: DispatchOptions,
    target: InnerTarget,
  ): Promise<ToolCallResult> {
    const tool = this.#options.find(name);
    if (tool === undefined) throw new ToolError("unknownTool", name, `There is no tool named "${name}".`);
    if (tool.ready !== undefined) await tool.ready;
    if (target.ended) {
      const message = `${name} did not run: the call that wanted it has ended.`;
      throw new ToolError("cancelled", name, message);
    }
    const call = { id: `${outer.id}/${++target.made}`, name, arguments: args };
    const { args: prepared } = tool.prepare(args);
    target.calls ??= new AbortController();
    const { signal } = target.calls;
    if (options.beforeInner) await target.timer.hold(() => options.beforeInner?.(call, tool, signal));
    const gate = await this.#gates.enterInside(tool, target.holder, signal);
    try {
      // What it tells the host belongs to the call that the host knows of.
      const ctx = this.#context(tool, outer, { ...options, signal }, undefined);
      const result = await settle(runTool(tool.impl, prepared, ctx, tool.metadata.capabilities.timeoutMs));
      target.tool = tool;
      return tool.checkResult(result, prepared);
    } finally {
      gate?.leave();
    }
  }

  /** A fault is cut like a result: a server's whole answer may stand in its message. */
  #failed({ call, repaired }: Run, thrown: unknown): DispatchOutcome {
    const fault = toToolError(thrown, call.name);
    const whole = ToolCallResult.text(fault.message).content;
    const { content: kept, handle } = capContent(whole, MAX_ERROR_BYTES, call.id, this.#options.resources);
    const tag = this.#options.reminders?.tag;
    const content = tag === undefined ? kept : escaped(kept, tag); // what a command wrote may stand in it
    const promptText = textOfContent(content);
    const { kind, retryable, status, retryAfterMs } = fault; // the cause may tell the whole again
    return {
      call,
      error:
        handle === undefined && content === kept
          ? fault
          : new ToolError(kind, call.name, promptText, { retryable, status, retryAfterMs }),
      content,
      promptText,
      errorDetail: kind,
      ...(handle === undefined ? {} : { handle }),
      ...(repaired.length === 0 ? {} : { repaired }),
    };
  }

  /** What came of a call; throws its error. */
  #ended(
    run: Run,
    begun: Begun,
    event: Exclude<ToolEvent, { type: "progress" }>,
  ): DispatchOutcome | Promise<DispatchOutcome> {
    if (event.type === "error") throw event.error;
    const { tool, args, ctx, target } = begun;
    const result = tool.checkResult(event.result, args);
    const { reminders, resources, tools } = this.#options;
    const max = tool.metadata.capabilities.maxResultBytes ?? MAX_RESULT_BYTES;
    const { content, handle } = capContent(result.content, max, run.call.id, resources);
    if (reminders === undefined) return doneWith(run, target, result, content, handle);
    // A tool that passed the call on stands for the one that ran.
    const effective = target.tool ?? tool;
    const told = reminded(reminders, effective, ctx, result, content, () => tools?.required ?? []);
    if (!(told instanceof Promise)) return doneWith(run, target, result, told, handle);
    return told.then((all) => doneWith(run, target, result, all, handle));
  }
}

function doneWith(
  { call, repaired }: Run,
  target: InnerTarget,
  result: ToolCallResult,
  content: readonly ContentPart[],
  handle: string | undefined,
): DispatchOutcome {
  const outcome: { -readonly [key in keyof DispatchOutcome]: DispatchOutcome[key] } = {
    call,
    result,
    content,
    promptText: textOfContent(content),
  };
  if (result.errorDetail !== undefined) outcome.errorDetail = result.errorDetail;
  if (target.tool !== undefined) outcome.effectiveName = target.tool.name;
  if (handle !== undefined) outcome.handle = handle;
  if (repaired.length > 0) outcome.repaired = repaired;
  return outcome;
}

/** What a running tool did with other tools. */
interface InnerTarget {
  /** Of the calling tool. */
  readonly timer: CallTimer;
  /** How many calls it has made. */
  made: number;
  /** It may go on unheard after its time is up, but has nothing done for it any more. */
  ended?: boolean;
  /** The calling tool, where it has one of a limited number of places. */
  holder?: BoundTool | undefined;
  /** The one it passed its call on to, last. */
  tool?: BoundTool;
  /** Ends the calls it made when its own ends, in whatever way. */
  calls?: AbortController;
}

/** A call that runs. */
interface Run {
  readonly call: DispatchCall;
  /** What was mended in its arguments. */
  repaired: readonly string[];
  target?: InnerTarget;
  /** Where it holds a place. */
  gate?: Gate | undefined;
}

function leave({ gate, target }: Run): void {
  gate?.leave();
  if (target === undefined) return;
  target.ended = true;
  target.calls?.abort();
}

/** A call that can be run. */
interface Begun {
  readonly tool: BoundTool;
  readonly args: ToolArguments;
  readonly ctx: ToolContext;
  readonly target: InnerTarget;
}

function reminded(
  reminders: Reminders,
  tool: BoundTool,
  ctx: ToolContext,
  result: ToolCallResult,
  content: readonly ContentPart[],
  there: () => readonly RequiredTool[],
): readonly ContentPart[] | Promise<readonly ContentPart[]> {
  const data = escaped(content, reminders.tag);
  if (result.errorDetail !== undefined) return data;
  const text = reminders.collect(tool, ctx, result, there);
  return typeof text === "string" ? withText(data, text) : text.then((said) => withText(data, said));
}

/** The same content where there is nothing to escape. */
function escaped(content: readonly ContentPart[], tag: string): readonly ContentPart[] {
  const parts = content.map((part) => {
    if (part.type !== "text") return part;
    const text = escapeTag(part.text, tag);
    return text === part.text ? part : { ...part, text };
  });
  return parts.every((part, i) => part === content[i]) ? content : parts;
}

function withText(content: readonly ContentPart[], text: string): readonly ContentPart[] {
  if (text === "") return content;
  return [...content.filter((part) => part.type !== "text" || part.text !== ""), { type: "text", text }];
}
