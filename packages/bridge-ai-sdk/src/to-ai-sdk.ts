import type { ToolCallManager, ToolCallOutcome, ToolCallRequest, ToolShed } from "@shedkit/shed";
import {
  callGates,
  gateRefusal,
  metadataOf,
  type Progress,
  partsAlone,
  type SessionParts,
  ToolError,
  userAnswers,
} from "@shedkit/tool";
import {
  type ContentPart,
  functionSpec,
  type JsonValue,
  newSessionId,
  type SessionId,
  type Tool,
  type ToolArguments,
  toolName,
} from "@shedkit/types";
import { Latest } from "./latest.js";
import { toModelOutput } from "./model-output.js";
import { type AiSdkModelOutput, type AiSdkSchema, schemaOf } from "./schema.js";

/** What a shed is turned into. */
export interface AiSdkTools {
  /** For `generateText`, `streamText` and agents: `shed`, and every tool. One object, which holds later tools too. */
  readonly tools: { [name: string]: AiSdkTool };
  /** Declares to each step what is active: `shed`, and what it found, in that order. */
  readonly prepareStep: () => { activeTools: string[]; toolOrder: string[] };
  readonly manager: ToolCallManager;
  /** Ends what the tools run in the background. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A tool as the AI SDK takes it. Spelled out, since the declarations of `ai` do not compile under every setting. */
export interface AiSdkTool {
  description: string;
  inputSchema: AiSdkSchema;
  /** True for a call that waits for a person's answer, whatever the permissions (`asks` of the tool). */
  needsApproval(input: ToolArguments): boolean;
  execute(
    input: ToolArguments,
    options: { toolCallId: string; abortSignal?: AbortSignal | undefined },
  ): AsyncIterable<ShedToolOutput>;
  /** What the model reads of an output. */
  toModelOutput(options: { output: ShedToolOutput }): AiSdkModelOutput;
}

/** How a shed is turned into tools of the AI SDK. */
export interface ToAiSdkOptions {
  /** What a model sees first: `shed` alone, or all tools and no `shed`. Default: `"shed"`. */
  offer?: "shed" | "whole" | undefined;
  /** What the tools are built with. Default: {@link partsAlone}: what is remembered lasts as long as they do. */
  parts?: ((session: SessionId) => SessionParts | Promise<SessionParts>) | undefined;
}

/** What a call gives: signs of life, then what came of it. Plain data, so that messages can hold it. */
export type ShedToolOutput =
  | { status: "running"; text?: string | undefined; data?: JsonValue | undefined }
  | {
      status: "done";
      content: readonly ContentPart[];
      output?: JsonValue | undefined;
      /** Present when the call failed. */
      errorDetail?: string | undefined;
    };

const SHED = "shed";

/**
 * A shed as tools for the AI SDK. With `tools` and `prepareStep` given to a call, its model is offered `shed` first,
 * and what it looked up from the next step on. One call of it is one session: what is active stays so.
 *
 * Throws ToolShedError where the shed cannot be built.
 */
export async function toAiSdkTools(shed: ToolShed, options: ToAiSdkOptions = {}): Promise<AiSdkTools> {
  const session = newSessionId();
  const manager = await shed.build((await options.parts?.(session)) ?? partsAlone(session));
  const byShed = options.offer !== "whole";
  const tools: AiSdkTools["tools"] = {};
  const known = new Map<string, Tool>();
  const define = (tool: Tool): void => {
    const { name, description, parameters } = functionSpec(tool);
    known.set(name, tool);
    tools[name] = {
      description,
      inputSchema: schemaOf(parameters),
      needsApproval: (input) => asks(manager, { id: "", name, arguments: input }),
      execute: (input, { toolCallId, abortSignal }) => run(manager, toolCallId, name, input, abortSignal),
      toModelOutput: ({ output }) => shownTo(output),
    };
  };
  const refresh = (): void => {
    const all = manager.allDeclarations().tools;
    const now = byShed
      ? [...all, ...offered(manager).filter((tool) => manager.getDef(toolName(tool)) === undefined)]
      : all;
    const names = new Set(now.map(toolName));
    for (const name of known.keys()) {
      if (name === SHED || names.has(name)) continue;
      delete tools[name];
      known.delete(name);
    }
    for (const tool of now) if (known.get(toolName(tool)) !== tool) define(tool);
  };
  if (byShed) define(manager.shedDefinition());
  refresh();
  const close = (): Promise<void> => manager.close();
  return {
    tools,
    prepareStep: () => {
      refresh();
      const names = byShed ? [...new Set([SHED, ...offered(manager).map(toolName)])] : manager.names();
      return { activeTools: names, toolOrder: names };
    },
    manager,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What a model may call now: `shed`, where it is no other tool, and what is active. */
function offered(manager: ToolCallManager): Tool[] {
  const { shed, tools } = manager.offeredTools();
  return [...(shed ? [shed] : []), ...tools];
}

/** Of a call by `use_tool`, what the tool that it names says. Where it cannot be told, it does. */
function asks(manager: ToolCallManager, request: ToolCallRequest): boolean {
  const tool = manager.get(manager.callInfo(request)?.name ?? "");
  const own = tool && metadataOf(tool).asks;
  if (own === undefined) return false;
  let args: ToolArguments;
  try {
    args = manager.validateArguments(request);
  } catch {
    return false; // it will not run
  }
  try {
    return own(args);
  } catch {
    return true;
  }
}

async function* run(
  manager: ToolCallManager,
  id: string,
  name: string,
  args: ToolArguments,
  signal: AbortSignal | undefined,
): AsyncGenerator<ShedToolOutput, void, void> {
  const answers = manager.resources.getOrDefault(userAnswers, () => new Map());
  // It runs, so it was let run; what a person answered beside that is the host's to put there.
  if (!answers.has(id) && asks(manager, { id, name, arguments: args })) answers.set(id, null);
  const signs = new Latest<Progress>();
  let outcome: ToolCallOutcome | undefined;
  const calls = manager.runCalls([{ id, name, arguments: args }], {
    signal,
    before: (request) => passGates(manager, request),
    beforeInner: (inner) => {
      passGates(manager, inner);
      if (!asks(manager, inner)) return;
      const message = `${inner.name} waits for a person's yes, which a call inside ${name} cannot get. Call it by itself.`;
      throw new ToolError("permissionDenied", inner.name, message);
    },
    progress: (_, sign) => signs.set(sign),
  });
  const done = (async () => {
    for await (const each of calls) outcome = each;
  })().finally(() => {
    answers.delete(id);
    signs.end();
  });
  done.catch(() => undefined); // who stops listening asks for nothing more
  for await (const { text, data } of signs)
    yield { status: "running", ...(text !== undefined && { text }), ...(data !== undefined && { data }) };
  await done;
  const { content, result, errorDetail, skipped } = outcome as unknown as ToolCallOutcome; // it always gives one
  const failed = errorDetail ?? skipped;
  yield {
    status: "done",
    content,
    ...(result?.output !== undefined && { output: result.output }),
    ...(failed !== undefined && { errorDetail: failed }),
  };
}

/** Messages that were stored may hold outputs of before, made by another tool of the name. */
function shownTo(output: ShedToolOutput | null | undefined): AiSdkModelOutput {
  if (output?.status === "running") return { type: "text", value: "" };
  if (output?.status === "done" && Array.isArray(output.content))
    return toModelOutput(output.content, output.errorDetail);
  return { type: "text", value: typeof output === "string" ? output : (JSON.stringify(output) ?? "") };
}

/** Throws ToolError where a gate of the session, such as that of plan mode, refuses a call. */
function passGates(manager: ToolCallManager, request: ToolCallRequest): void {
  const { resources } = manager;
  const tool = manager.get(request.name);
  if (tool === undefined || !resources.get(callGates)?.size) return;
  const { kind, capabilities } = manager.metadata(request.name) ?? metadataOf(tool);
  const { access } = metadataOf(tool);
  const args = manager.validateArguments(request);
  const call = { tool: request.name, kind, capabilities, arguments: args };
  let refusal: string | undefined;
  try {
    refusal = gateRefusal(resources, { ...call, access: access?.(args) ?? [] });
  } catch (fault) {
    refusal = fault instanceof Error ? fault.message : String(fault); // what cannot be told is not let run
  }
  if (refusal === undefined) return;
  throw new ToolError("permissionDenied", request.name, `The call of "${request.name}" is not permitted: ${refusal}`);
}
