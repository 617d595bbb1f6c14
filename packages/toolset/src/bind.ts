import {
  checkReturns,
  evalFreeValidator,
  fullId,
  metadataOf,
  type PreparedArguments,
  prepareArguments,
  type SchemaValidator,
  showValue,
  ToolError,
  type ToolImpl,
  type ToolMetadata,
} from "@shedkit/tool";
import { type JsonSchema, type JsonValue, type Tool, type ToolArguments, toolName } from "@shedkit/types";
import { type ParamNames, parametersOf, paramNames, renameTool } from "./config/rename.js";
import type { BoundTool } from "./contract.js";
import { foreignValidator, hasPatterns, loadForeignPatterns } from "./foreign.js";

/** How one client wants a tool. */
export interface BindOptions {
  /** Default: the eval-free one. {@link loadValidator} gives the fast one. Foreign schemas have their own. */
  validator?: SchemaValidator | undefined;
  /** The client's name for it. Default: the tool's own. */
  name?: string | undefined;
  /** The client's names for its parameters, by canonical name. */
  paramNames?: { readonly [canonical: string]: string } | undefined;
  /** Changes what the model reads: the description, and those of the parameters. Default: takes out template markers. */
  render?: ((text: string) => string) | undefined;
  /** Replaces the schema of the arguments; of a tool that has no commands. */
  input?: JsonSchema | undefined;
  /** Replaces the description, before `render`. */
  description?: string | undefined;
  /** Replaces that of a command, where it gives one. */
  describeCommand?: ((command: string) => string | undefined) | undefined;
  metadata?: ToolMetadata | undefined;
  version?: string | undefined;
  params?: JsonValue | undefined;
}

/**
 * Makes a tool ready for calls. Throws ToolError `invalidArguments`, naming the tool, where its name is none that wires
 * take (1 to 64 of `A-Z a-z 0-9 _ -`) or one of its schemas is not valid.
 */
export function bindTool(impl: ToolImpl, options: BindOptions = {}): BoundTool {
  const own = withInput(impl.definition(), options.input);
  const metadata = options.metadata ?? metadataOf(impl, own);
  const name = options.name ?? toolName(own);
  assertName(name);
  const validator = metadata.foreign ? foreignValidator : (options.validator ?? evalFreeValidator);
  for (const schema of schemasOf(own)) assertSchema(name, schema, validator, metadata.foreign === true);
  const names = Object.keys(options.paramNames ?? {}).length > 0 ? paramNames(options.paramNames ?? {}) : undefined;
  for (const schema of schemasOf(own)) assertNesting(name, schema);
  const renamed = names === undefined ? own : renameTool(own, names);
  const render = options.render ?? withoutMarkers;
  const definition = described(renamed, name, render, options);
  const respell = names && respelling(names, own);
  const prepare = (raw: unknown): PreparedArguments => {
    const { args, repaired } = prepareArguments(definition, raw, validator, respell);
    return { args: names === undefined ? args : names.toCanonical(args), repaired };
  };
  return {
    name,
    id: fullId(metadata),
    impl,
    definition,
    metadata: withPrepared(metadata, prepare),
    version: options.version,
    params: options.params,
    ready: metadata.foreign && schemasOf(own).some((schema) => hasPatterns(schema)) ? loadForeignPatterns() : undefined,
    paramName: names === undefined ? (canonical) => canonical : names.toClient,
    prepare,
    checkResult: (result, args) => checkReturns(own, name, result, args, validator),
  };
}

function withInput(tool: Tool, input: JsonSchema | undefined): Tool {
  if (input === undefined || tool.type === "multi") return tool;
  return { ...tool, definition: { ...tool.definition, arguments: input } };
}

/** A model may have read of the canonical names elsewhere: they are taken too; the client's name wins. */
function respelling(names: ParamNames, own: Tool): (args: ToolArguments, changed: string[]) => ToolArguments {
  const inputs = parametersOf(own).filter((key) => names.toClient(key) !== key);
  return (args, changed) => {
    const old = inputs.filter((key) => Object.hasOwn(args, key));
    if (old.length === 0) return args;
    const entries = Object.entries(args)
      .filter(([key]) => !(old.includes(key) && Object.hasOwn(args, names.toClient(key))))
      .map(([key, value]) => [old.includes(key) ? names.toClient(key) : key, value] as const);
    for (const key of old) {
      const client = names.toClient(key);
      changed.push(
        Object.hasOwn(args, client) ? `${key}: left out, as ${client} is given` : `${key}: taken as ${client}`,
      );
    }
    return Object.fromEntries(entries);
  };
}

/**
 * What a call touches and accesses is told by the arguments that it will run with, whatever the model sent: a repair
 * must not get past a permission. A call that cannot run accesses nothing.
 */
function withPrepared(metadata: ToolMetadata, prepare: BoundTool["prepare"]): ToolMetadata {
  const { access, asks, capabilities } = metadata;
  const ask = <T>(args: ToolArguments, tell: (prepared: ToolArguments) => readonly T[]): readonly T[] => {
    let prepared: ToolArguments;
    try {
      prepared = prepare(args).args;
    } catch {
      return [];
    }
    return tell(prepared);
  };
  return {
    ...metadata,
    capabilities: { ...capabilities, touches: (args) => ask(args, (prepared) => capabilities.touches(prepared)) },
    ...(access === undefined ? {} : { access: (args) => ask(args, (prepared) => access(prepared)) }),
    ...(asks === undefined ? {} : { asks: (args) => ask(args, (prepared) => [asks(prepared)])[0] ?? false }),
  };
}

const MARKERS = /\$\{(?:\{[\s\S]*?\}\}|%[\s\S]*?%\}|#[\s\S]*?#\})/g;

/** A tool set fills templates in; without one there are no names to fill in. */
function withoutMarkers(text: string): string {
  return text.includes("${") ? text.replace(MARKERS, "") : text;
}

function described(
  tool: Tool,
  name: string,
  text: (plain: string) => string,
  { description, describeCommand }: BindOptions,
): Tool {
  if (tool.type === "multi") {
    const whole = description ?? tool.description;
    return {
      type: "multi",
      name,
      ...(whole === undefined ? {} : { description: text(whole) }),
      commands: tool.commands.map((command) => ({
        ...command,
        description: text(describeCommand?.(command.name) ?? command.description),
        arguments: renderRoot(command.arguments, text),
      })),
    };
  }
  const { definition } = tool;
  return {
    type: "single",
    definition: {
      ...definition,
      name,
      description: text(description ?? definition.description),
      arguments: renderRoot(definition.arguments, text),
    },
  };
}

/**
 * Every schema of arguments says that it is an object and what is in it, as some wires insist; a title and a description
 * at its root would tell another name than the client's.
 */
function renderRoot(schema: JsonSchema, text: (plain: string) => string): JsonSchema {
  const rendered = renderSchema(schema, text) as { [keyword: string]: unknown };
  const { title, description, ...rest } = rendered;
  if (title === undefined && description === undefined && "type" in rest && "properties" in rest && "required" in rest)
    return rendered;
  return { ...rest, type: "object", properties: rest.properties ?? {}, required: rest.required ?? [] };
}

/** The same schema where no description changes, so that its compiled form serves. */
function renderSchema(part: unknown, render: (text: string) => string): unknown {
  if (typeof part !== "object" || part === null) return part;
  if (Array.isArray(part)) {
    const items = part.map((item) => renderSchema(item, render));
    return items.some((item, i) => item !== part[i]) ? items : part;
  }
  let changed = false;
  const entries = Object.entries(part).map(([key, value]) => {
    const next = key === "description" && typeof value === "string" ? render(value) : renderSchema(value, render);
    changed ||= next !== value;
    return [key, next] as const;
  });
  return changed ? Object.fromEntries(entries) : part;
}

function schemasOf(tool: Tool): JsonSchema[] {
  const definitions = tool.type === "single" ? [tool.definition] : tool.commands;
  return definitions.flatMap(({ arguments: args, returns }) => (returns === undefined ? [args] : [args, returns]));
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Wires refuse a whole request for one such name. */
function assertName(name: unknown): void {
  if (typeof name === "string" && NAME.test(name) && name !== "__proto__") return;
  const message = `${showValue(name)} cannot be the name of a tool: it is not 1 to 64 of A-Z a-z 0-9 _ -, or reserved.`;
  throw new ToolError("invalidArguments", String(name).slice(0, 64), message);
}

const MAX_NESTING = 1000; // JSON levels: two for each level of schemas

/** A validator looks at what its keywords hold; a schema is read and sent with all that stands in it. */
function assertNesting(name: string, schema: JsonSchema): void {
  if (!nestsDeeper(schema, MAX_NESTING)) return;
  const message = `The tool ${name} cannot be used. A schema of it nests deeper than ${MAX_NESTING}, or contains itself.`;
  throw new ToolError("invalidArguments", name, message);
}

function nestsDeeper(part: unknown, levels: number): boolean {
  if (typeof part !== "object" || part === null) return false;
  return levels === 0 || Object.values(part).some((inner) => nestsDeeper(inner, levels - 1));
}

function assertSchema(name: string, schema: JsonSchema, validator: SchemaValidator, foreign: boolean): void {
  try {
    if (typeof schema === "boolean") throw new Error(`A schema must be an object, and one of it is ${schema}.`);
    const check = validator.compile(schema);
    if (foreign) check({}); // one that leads to itself without end is found so
  } catch (e) {
    const reason = e instanceof Error ? e.message : String(e);
    throw new ToolError("invalidArguments", name, `The tool ${name} cannot be used. ${reason}`, { cause: e });
  }
}
