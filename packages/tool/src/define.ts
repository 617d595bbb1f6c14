import type { ContentPart, JsonSchema, JsonValue, Tool, ToolArguments } from "@shedkit/types";
import { type CallOptions, callContext, settle } from "./call.js";
import { assertJson, checkedResult, checkReturns } from "./check-result.js";
import { toContent } from "./content.js";
import { capabilitiesFor, fullId } from "./defaults.js";
import { ToolError } from "./error.js";
import type { Progress, ToolContext, ToolEvent, ToolImpl } from "./impl.js";
import { showValue } from "./issues.js";
import { ownMemory } from "./memory.js";
import type {
  AccessRequest,
  BehaviorVersion,
  CapabilityHints,
  DescribeContext,
  ListContext,
  ParamFault,
  Reminder,
  Requirement,
  ToolKind,
  ToolMetadata,
} from "./metadata.js";
import { paramsOf, type StateHandle, stateOf } from "./params.js";
import { prepareArguments } from "./prepare.js";
import { ToolCallResult } from "./result.js";
import { runTool } from "./run.js";
import type { Infer, TypedSchema } from "./schema.js";
import {
  fromStandard,
  type InferStandard,
  type InferStandardInput,
  isStandard,
  type StandardTypedSchema,
} from "./standard.js";

/** A typed tool, which is also the erased {@link ToolImpl} that everything else sees. */
export interface TypedTool<In, Out> extends ToolImpl {
  readonly metadata: ToolMetadata;
  /**
   * Runs the tool alone, with its types: for tests, and for programs that have no model. Rejects with nothing but
   * ToolError; an expected failure (a result with `errorDetail`) rejects with kind `execution`.
   */
  call(input: In, options?: CallOptions): Promise<Out>;
}

/** What a tool's body knows of its call, with the tool's own settings and memory. */
export type TypedToolContext<P, S> = ToolContext & { readonly params: P; readonly state: StateHandle<S> };

/** Exactly one of `run` and `execute`. */
export type ToolBody<In, Out, C> =
  | { run(input: In, ctx: C): Out | Promise<Out>; execute?: never }
  | {
      /** Yields progress, returns the output. */
      execute(input: In, ctx: C): AsyncGenerator<Progress, Out, void>;
      run?: never;
    };

/** What is said of a tool, besides its output and its body. */
export interface ToolSpec<I, In, P, S> {
  /** Letters, digits, `_` and `-`. The name of the tool, unless a configuration gives it another. */
  id: string;
  /** Default: `user`. */
  namespace?: string | undefined;
  kind: ToolKind;
  /** What a search groups the tool under. Default: the kind. */
  category?: string | undefined;
  /** What the model reads. A function is told the names and settings in force. */
  description: string | ((ctx: DescribeContext) => string);
  /** Schema of the arguments: an object. */
  input: I;
  params?: { schema: TypedSchema & { static: P }; defaults: P; check?(params: P): readonly ParamFault[] } | undefined;
  /**
   * The schema of the arguments under the settings of a configuration: what a setting switches off is not offered. It
   * describes no arguments that `input` does not. Default: `input`.
   */
  inputFor?(params: P): TypedSchema;
  /**
   * Kept between calls, and with the session. `version` changes when its shape does; `migrate` makes one of this version of
   * what an older (or newer) one left, or gives undefined, as is done without it: then it begins anew.
   */
  state?:
    | {
        schema: TypedSchema & { static: S };
        version: number;
        initial(): S;
        migrate?: ((old: JsonValue, version: number) => S | undefined) | undefined;
      }
    | undefined;
  capabilities?: CapabilityHints | undefined;
  requires?: Requirement | undefined;
  /** Full ids of tools that may not be in one set with this one. */
  conflicts?: readonly string[] | undefined;
  /**
   * The purpose of several tools that together conflict with others of the same purpose, e.g. `file-toolset`: a
   * configuration with both has one problem of the category `file_toolset_conflict`. Default: one problem a pair.
   */
  bundle?: string | undefined;
  versions?: readonly BehaviorVersion[] | undefined;
  reminders?: readonly Reminder[] | undefined;
  notifications?: readonly string[] | undefined;
  shouldList?(ctx: ListContext): boolean;
  /** What a call will access, by its arguments as they stand in the schema. */
  access?(input: In): readonly AccessRequest[];
  /**
   * Whether a call waits for a person's answer before it runs, whatever the permissions; the tool finds the answer in
   * `userAnswers`. Default: never.
   */
  asks?(input: In): boolean;
  /** See `ToolMetadata.asksForMs`. */
  asksForMs?: number | undefined;
}

/** With `output`: what `run` returns is checked against it, and `toModel` says how the model reads it. */
export type ToolOutputSpec<O, Out> = { output: O; toModel?(output: Out): readonly ContentPart[] | string };

/**
 * Defines a tool. The input's type comes from its schema, the output's from `output` or else from the body.
 *
 * The body returns plain data, or a {@link ToolCallResult} where it wants to say what the model reads, or that the
 * call failed as calls may (`ToolCallResult.failure("no such file")`). What it throws becomes an error that the model
 * reads: throw a ToolError to choose its kind.
 *
 * Schemas are TypeBox 0.34's, or any Standard Schema that can give its JSON Schema. Throws ToolError
 * `invalidArguments` for an id or an input schema that cannot work.
 */
export function defineTool<I extends TypedSchema, O extends TypedSchema, P = undefined, S = undefined>(
  spec: ToolSpec<I, Infer<I>, P, S> &
    ToolOutputSpec<O, Infer<O>> &
    ToolBody<Infer<I>, Infer<O> | ToolCallResult, TypedToolContext<P, S>>,
): TypedTool<Infer<I>, Infer<O>>;
export function defineTool<I extends TypedSchema, R, P = undefined, S = undefined>(
  spec: ToolSpec<I, Infer<I>, P, S> & { output?: undefined } & ToolBody<Infer<I>, R, TypedToolContext<P, S>>,
): TypedTool<Infer<I>, R>;
export function defineTool<I extends StandardTypedSchema, O extends StandardTypedSchema, P = undefined, S = undefined>(
  spec: ToolSpec<I, InferStandardInput<I>, P, S> &
    ToolOutputSpec<O, InferStandard<O>> &
    ToolBody<InferStandard<I>, InferStandard<O> | ToolCallResult, TypedToolContext<P, S>>,
): TypedTool<InferStandardInput<I>, InferStandard<O>>;
export function defineTool<I extends StandardTypedSchema, R, P = undefined, S = undefined>(
  spec: ToolSpec<I, InferStandardInput<I>, P, S> & { output?: undefined } & ToolBody<
      InferStandard<I>,
      R,
      TypedToolContext<P, S>
    >,
): TypedTool<InferStandardInput<I>, R>;
export function defineTool(spec: AnySpec): TypedTool<never, unknown> {
  return new DefinedTool(spec);
}

/** The overloads in one, types erased. */
type AnySpec = ToolSpec<TypedSchema | StandardTypedSchema, never, unknown, unknown> & {
  output?: TypedSchema | StandardTypedSchema | undefined;
  toModel?(output: never): readonly ContentPart[] | string;
  run?: ((input: never, ctx: TypedToolContext<unknown, unknown>) => unknown) | undefined;
  execute?:
    | ((input: never, ctx: TypedToolContext<unknown, unknown>) => AsyncGenerator<Progress, unknown, void>)
    | undefined;
};

const ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Throws ToolError `invalidArguments` for what wires do not take as the name of a tool. */
export function assertId(id: unknown): void {
  if (typeof id === "string" && ID.test(id)) return;
  const shown = typeof id === "string" ? `"${id}"` : showValue(id);
  throw new ToolError("invalidArguments", String(id), `The tool id ${shown} is not 1 to 64 of A-Z a-z 0-9 _ -.`);
}

class DefinedTool implements TypedTool<never, unknown> {
  readonly metadata: ToolMetadata;
  readonly #spec: AnySpec;
  readonly #definition: Tool;
  readonly #fullId: string;

  constructor(spec: AnySpec) {
    assertId(spec.id);
    if (spec.run !== undefined && spec.execute !== undefined)
      throw new ToolError(
        "invalidArguments",
        spec.id,
        `${spec.id} has both run and execute: it must have one of them.`,
      );
    this.#spec = spec;
    this.metadata = metadataFrom(spec);
    this.#fullId = fullId(this.metadata);
    const returns = spec.output === undefined ? undefined : jsonSchemaOf(spec.output, "output");
    this.#definition = {
      type: "single",
      definition: {
        name: spec.id,
        category: spec.category ?? spec.kind,
        description: typeof spec.description === "string" ? spec.description : spec.description(alone(spec)),
        arguments: jsonSchemaOf(spec.input, "input"),
        ...(returns === undefined ? {} : { returns }),
      },
    };
  }

  definition(): Tool {
    return this.#definition;
  }

  execute(args: ToolArguments, ctx: ToolContext): Promise<ToolCallResult> | AsyncIterable<ToolEvent> {
    return this.#execute(args, ctx, () => {});
  }

  async call(input: never, options: CallOptions = {}): Promise<unknown> {
    const { id, output: schema } = this.#spec;
    const { args } = prepareArguments(this.#definition, input, options.validator);
    let output: unknown;
    const recording: ToolImpl = {
      definition: () => this.#definition,
      execute: (prepared, ctx) =>
        this.#execute(prepared, ctx, (value) => {
          output = value;
        }),
    };
    const events = runTool(
      recording,
      args,
      callContext(this.#definition, this.metadata.kind, options),
      this.metadata.capabilities.timeoutMs,
    );
    const result = await settle(events, options.onProgress);
    if (result.errorDetail !== undefined) throw new ToolError("execution", id, result.text);
    return ToolCallResult.is(output) && schema !== undefined ? output.output : output;
  }

  #execute(
    args: ToolArguments,
    ctx: ToolContext,
    returned: (output: unknown) => void,
  ): Promise<ToolCallResult> | AsyncIterable<ToolEvent> {
    return this.#spec.execute === undefined ? this.#ran(args, ctx, returned) : this.#events(args, ctx, returned);
  }

  /** A body without progress: a promise takes a part of what a generator does. */
  async #ran(args: ToolArguments, ctx: ToolContext, returned: (output: unknown) => void): Promise<ToolCallResult> {
    const spec = this.#spec;
    if (spec.run === undefined)
      throw new ToolError("notImplemented", ctx.names.tool, `${ctx.names.tool} has neither run nor execute.`);
    const input = isStandard(spec.input) ? await fromStandard(spec.input, args, spec.id) : args;
    const output = await spec.run(input as never, this.#context(ctx));
    returned(output);
    return this.#toResult(output, ctx.names.tool);
  }

  async *#events(
    args: ToolArguments,
    ctx: ToolContext,
    returned: (output: unknown) => void,
  ): AsyncGenerator<ToolEvent, void, void> {
    const spec = this.#spec;
    const input = isStandard(spec.input) ? await fromStandard(spec.input, args, spec.id) : args;
    const body = spec.execute?.(input as never, this.#context(ctx));
    const output = body && (yield* progressOf(body));
    returned(output);
    yield { type: "result", result: this.#toResult(output, ctx.names.tool) };
  }

  #context(ctx: ToolContext): TypedToolContext<unknown, unknown> {
    const params = ctx.resources.get(paramsOf(this.#fullId)) ?? this.#spec.params?.defaults;
    const state = ctx.resources.getOrDefault(stateOf(this.#fullId), () =>
      ownMemory(this.metadata.state, ctx.names.tool),
    );
    return { ...ctx, params, state };
  }

  #toResult(output: unknown, tool: string): ToolCallResult {
    const spec = this.#spec;
    if (ToolCallResult.is(output)) return checkReturns(this.#definition, tool, checkedResult(output, tool));
    assertJson(output, tool);
    checkReturns(this.#definition, tool, new ToolCallResult([], { output: output as JsonValue }));
    const shown = spec.toModel?.(output as never);
    const content = shown === undefined ? toContent(output) : typeof shown === "string" ? toContent(shown) : shown;
    return new ToolCallResult(content, output === undefined ? {} : { output: output as JsonValue });
  }
}

/** Progress as events; returns what the body returned. */
async function* progressOf(body: AsyncGenerator<Progress, unknown, void>): AsyncGenerator<ToolEvent, unknown, void> {
  let ended = false;
  try {
    while (true) {
      const next = await body.next();
      if (next.done === true) {
        ended = true;
        return next.value;
      }
      yield { type: "progress", ...next.value };
    }
  } catch (e) {
    ended = true;
    throw e;
  } finally {
    if (!ended) await body.return(undefined);
  }
}

function metadataFrom(spec: AnySpec): ToolMetadata {
  const { description } = spec;
  return {
    id: spec.id,
    namespace: spec.namespace ?? "user",
    kind: spec.kind,
    capabilities: capabilitiesFor(spec.kind, spec.capabilities),
    requires: spec.requires,
    conflicts: spec.conflicts,
    bundle: spec.bundle,
    versions: spec.versions,
    notifications: spec.notifications,
    reminders: spec.reminders,
    params: spec.params as ToolMetadata["params"],
    state: spec.state as ToolMetadata["state"],
    ...(typeof description === "function" ? { describe: description } : {}),
    ...(spec.inputFor === undefined ? {} : { inputFor: (params: JsonValue) => spec.inputFor?.(params) as JsonSchema }),
    ...(spec.shouldList === undefined ? {} : { shouldList: spec.shouldList.bind(spec) }),
    ...(spec.access === undefined
      ? {}
      : { access: spec.access.bind(spec) as (args: ToolArguments) => readonly AccessRequest[] }),
    asksForMs: spec.asksForMs,
    ...(spec.asks === undefined ? {} : { asks: spec.asks.bind(spec) as (args: ToolArguments) => boolean }),
  };
}

/** What a description is told while the tool stands alone: its own names, its defaults. */
function alone(spec: AnySpec): DescribeContext {
  return {
    tool: (kind, id = spec.id) => (kind === spec.kind && id === spec.id ? spec.id : undefined),
    param: (kind, canonical) => (kind === spec.kind ? canonical : undefined),
    params: (spec.params?.defaults ?? null) as JsonValue,
    version: "current",
  };
}

function jsonSchemaOf(schema: TypedSchema | StandardTypedSchema, side: "input" | "output"): JsonSchema {
  return isStandard(schema) ? schema["~standard"].jsonSchema[side]({ target: "draft-2020-12" }) : schema;
}
