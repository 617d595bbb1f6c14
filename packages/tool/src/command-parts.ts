import type { JsonSchema, JsonValue } from "@shedkit/types";
import { fullId } from "./defaults.js";
import type { ToolContext } from "./impl.js";
import { ownMemory } from "./memory.js";
import type { BehaviorVersion, ParamFault, Requirement, ToolMetadata } from "./metadata.js";
import { paramsOf, type StateHandle, stateOf } from "./params.js";
import { type Resource, Resources } from "./resources.js";
import { objectOf } from "./schema/node.js";
import { evalFreeValidator } from "./schema/validator.js";

/** The commands of a tool, by name. */
export type CommandMetadata = ReadonlyMap<string, ToolMetadata>;

type ByCommand = { readonly [command: string]: JsonValue };

/** What each command asks for, asked for by the whole. */
export function requiresOf(commands: CommandMetadata): Requirement | undefined {
  const all = [...commands.values()].flatMap(({ requires }) => (requires === undefined ? [] : [requires]));
  return all.length === 0 ? undefined : { all };
}

/** Every version that a command has; of one that several have, the word of the first. */
export function versionsOf(commands: CommandMetadata): readonly BehaviorVersion[] | undefined {
  const all = [...commands.values()].flatMap(({ versions }) => versions ?? []);
  return all.length === 0 ? undefined : all.filter((one, i) => all.findIndex((v) => v.version === one.version) === i);
}

/** The settings of the whole: those of each command that has some, under its name. */
export function paramsOfCommands(commands: CommandMetadata): ToolMetadata["params"] {
  const own = partsOf(commands, ({ params }) => params);
  if (own.length === 0) return undefined;
  return {
    schema: objectOfParts(own.map(([command, { schema }]) => [command, schema])),
    defaults: Object.fromEntries(own.map(([command, { defaults }]) => [command, defaults])),
    byCommand: true,
    check: (params) =>
      own.flatMap(([command, { check }]): readonly ParamFault[] =>
        (check?.((params as ByCommand)[command] ?? null) ?? []).map(({ field, message }) => ({
          field: field === "" ? command : `${command}.${field}`,
          message,
        })),
      ),
  };
}

/** The memory of the whole: that of each command that has one, under its name. Versions only go up, so their sum does. */
export function stateOfCommands(commands: CommandMetadata): ToolMetadata["state"] {
  const own = partsOf(commands, ({ state }) => state);
  if (own.length === 0) return undefined;
  const version = own.reduce((sum, [, state]) => sum + state.version, 0);
  return {
    schema: objectOfParts(own.map(([command, { schema }]) => [command, schema])),
    version,
    initial: () => Object.fromEntries(own.map(([command, state]) => [command, state.initial()])),
    migrate: (old, from) => migrateParts(own, old, version - from),
  };
}

type CommandState = NonNullable<ToolMetadata["state"]>;

/**
 * Parts that still fit stay, others begin anew. Where one alone does not fit, it is the one whose version has changed, by
 * `step`: then it may migrate.
 */
function migrateParts(own: [string, CommandState][], old: JsonValue, step: number): JsonValue {
  const parts = objectOf(old) ?? {};
  const fits = ([command, { schema }]: [string, CommandState]): boolean =>
    evalFreeValidator.compile(schema)(parts[command]).length === 0;
  const changed = own.filter((part) => !fits(part));
  return Object.fromEntries(
    own.map((part) => {
      const [command, state] = part;
      const value = parts[command] as JsonValue | undefined;
      if (!changed.includes(part)) return [command, value];
      const next =
        changed.length === 1 && value !== undefined ? state.migrate?.(value, state.version - step) : undefined;
      return [command, next ?? state.initial()];
    }),
  ) as JsonValue;
}

function partsOf<T>(commands: CommandMetadata, part: (metadata: ToolMetadata) => T | undefined): [string, T][] {
  return [...commands].flatMap(([command, metadata]): [string, T][] => {
    const own = part(metadata);
    return own === undefined ? [] : [[command, own]];
  });
}

function objectOfParts(parts: [string, JsonSchema][]): JsonSchema {
  return {
    type: "object",
    properties: Object.fromEntries(parts),
    required: parts.map(([command]) => command),
    additionalProperties: false,
  };
}

/** The context in which a command finds its own settings and memory, which are parts of the whole's. */
export function commandContext(
  whole: ToolMetadata,
  command: string,
  metadata: ToolMetadata,
  ctx: ToolContext,
): ToolContext {
  const { params, state } = metadata;
  if (params === undefined && state === undefined) return ctx;
  const own = new Map<string, unknown>();
  const id = fullId(metadata);
  if (params !== undefined) {
    const given = ctx.resources.get(paramsOf(fullId(whole))) as ByCommand | undefined;
    own.set(paramsOf(id).name, given?.[command] ?? params.defaults);
  }
  if (state !== undefined) own.set(stateOf(id).name, partOf(memoryOf(whole, ctx.resources), command));
  return { ...ctx, resources: new OwnFirst(ctx.resources, own) };
}

/** That of the session; where there is none, one that lasts as long as the resources. */
function memoryOf(whole: ToolMetadata, resources: Resources): StateHandle<unknown> {
  return resources.getOrDefault(stateOf(fullId(whole)), () => ownMemory(whole.state, whole.id));
}

function partOf(memory: StateHandle<unknown>, command: string): StateHandle<unknown> {
  return {
    get: () => (memory.get() as ByCommand)[command],
    set: (value) => memory.set({ ...(memory.get() as ByCommand), [command]: value }),
  };
}

/** Other resources, of which some are seen otherwise. */
class OwnFirst extends Resources {
  readonly #rest: Resources;
  readonly #own: ReadonlyMap<string, unknown>;

  constructor(rest: Resources, own: ReadonlyMap<string, unknown>) {
    super();
    this.#rest = rest;
    this.#own = own;
  }

  override insert<T>(key: Resource<T>, value: T): void {
    this.#rest.insert(key, value);
  }

  override get<T>(key: Resource<T>): T | undefined {
    return this.#own.has(key.name) ? (this.#own.get(key.name) as T) : this.#rest.get(key);
  }

  override require<T>(key: Resource<T>): T {
    return this.#own.has(key.name) ? (this.#own.get(key.name) as T) : this.#rest.require(key);
  }

  override has(key: Resource<unknown>): boolean {
    return this.#own.has(key.name) || this.#rest.has(key);
  }

  override delete(key: Resource<unknown>): boolean {
    return this.#rest.delete(key);
  }

  override getOrDefault<T>(key: Resource<T>, make: () => T): T {
    return this.#own.has(key.name) ? (this.#own.get(key.name) as T) : this.#rest.getOrDefault(key, make);
  }

  override defer(release: () => void | Promise<void>): void {
    this.#rest.defer(release);
  }

  override dispose(): Promise<void> {
    return this.#rest.dispose();
  }
}
