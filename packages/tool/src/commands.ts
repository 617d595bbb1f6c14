import type { JsonValue, Tool, ToolArguments, ToolDefinition } from "@shedkit/types";
import {
  type CommandMetadata,
  commandContext,
  paramsOfCommands,
  requiresOf,
  stateOfCommands,
  versionsOf,
} from "./command-parts.js";
import { capabilitiesFor } from "./defaults.js";
import { assertId, type TypedTool } from "./define.js";
import { ToolError } from "./error.js";
import type { ToolContext, ToolImpl } from "./impl.js";
import { showValue } from "./issues.js";
import type { DescribeContext, ToolCapabilities, ToolMetadata } from "./metadata.js";
import { objectOf, own } from "./schema/node.js";

/** A tool of several commands. */
export interface CommandsSpec {
  name: string;
  /** Default: `user`. */
  namespace?: string | undefined;
  description?: string | undefined;
  commands: { readonly [command: string]: TypedTool<never, unknown> };
}

/**
 * Puts several tools under one name, as commands: the model calls `name` with `command` and that command's
 * parameters. The whole may do what any of its commands may, and asks for what any of them asks for; no more of its calls
 * run at once than the narrowest of them takes. Settings and memories stand under the names of their commands.
 *
 * Throws ToolError `invalidArguments` where the name is none that wires take (1 to 64 of `A-Z a-z 0-9 _ -`), there is no
 * command, one is no tool, or takes a parameter named `command`.
 */
export function defineCommands(spec: CommandsSpec): ToolImpl {
  assertId(spec.name);
  const commands = new Map(Object.entries(spec.commands));
  if (commands.size === 0) throw new ToolError("invalidArguments", spec.name, `${spec.name} has no commands.`);
  const definitions = [...commands].map(([command, tool]) => definitionOf(spec.name, command, tool));
  const definition: Tool = { type: "multi", name: spec.name, description: spec.description, commands: definitions };
  const named = (args: ToolArguments): TypedTool<never, unknown> | undefined => commands.get(String(args.command));
  const metadata = metadataFrom(spec, new Map([...commands].map(([name, tool]) => [name, tool.metadata])), named);
  return {
    metadata,
    definition: () => definition,
    execute(args: ToolArguments, ctx: ToolContext): ReturnType<ToolImpl["execute"]> {
      const tool = named(args);
      if (tool === undefined) {
        const names = [...commands.keys()].join(", ");
        const message = `${spec.name} has no command ${JSON.stringify(args.command)}. It has: ${names}.`;
        return Promise.reject(new ToolError("invalidArguments", ctx.names.tool, message));
      }
      const own = commandContext(metadata, String(args.command), tool.metadata, ctx);
      return tool.execute(withoutCommand(args), own);
    },
  };
}

function definitionOf(name: string, command: string, tool: TypedTool<never, unknown>): ToolDefinition {
  if (typeof tool?.definition !== "function") {
    const message = `The command ${command} of ${name} must be a tool that defineTool made, and is ${showValue(tool)}.`;
    throw new ToolError("invalidArguments", name, message);
  }
  const declared = tool.definition();
  if (declared.type === "multi")
    throw new ToolError("invalidArguments", name, `The command ${command} of ${name} has commands itself.`);
  if (own(objectOf((declared.definition.arguments as { properties?: unknown }).properties), "command") !== undefined)
    throw new ToolError("invalidArguments", name, `The command ${command} of ${name} takes a parameter named command.`);
  return { ...declared.definition, name: command };
}

function withoutCommand(args: ToolArguments): ToolArguments {
  const { command: _, ...rest } = args;
  return rest;
}

/** A command is told its own settings, which are a part of the whole's. */
function contextOf(command: string, ctx: DescribeContext): DescribeContext {
  const params = (objectOf(ctx.params)?.[command] ?? null) as JsonValue;
  return {
    tool: (kind, id) => ctx.tool(kind, id),
    param: (kind, name) => ctx.param(kind, name),
    params,
    version: ctx.version,
  };
}

function metadataFrom(
  spec: CommandsSpec,
  commands: CommandMetadata,
  named: (args: ToolArguments) => TypedTool<never, unknown> | undefined,
): ToolMetadata {
  const all = [...commands.values()];
  const given = (limit: "maxConcurrency" | "maxResultBytes"): number[] =>
    all.flatMap(({ capabilities }) => capabilities[limit] ?? []);
  const places = given("maxConcurrency");
  const bytes = given("maxResultBytes");
  const kinds = new Set(all.map((metadata) => metadata.kind));
  const kind = kinds.size === 1 ? (all[0]?.kind ?? "other") : "other";
  const every = (flag: "readOnly" | "idempotent"): boolean => all.every(({ capabilities }) => capabilities[flag]);
  const capabilities: ToolCapabilities = capabilitiesFor(kind, {
    readOnly: every("readOnly"),
    idempotent: every("idempotent"),
    destructive: all.some(({ capabilities }) => capabilities.destructive),
    scope: all.some(({ capabilities }) => capabilities.scope === "write") ? "write" : "read",
    maxConcurrency: places.length === 0 ? undefined : Math.min(...places),
    maxResultBytes: bytes.length === 0 ? undefined : Math.max(...bytes),
    timeoutMs: Math.max(...all.map(({ capabilities }) => capabilities.timeoutMs)),
    touches: (args) => named(args)?.metadata.capabilities.touches(withoutCommand(args)) ?? [],
  });
  return {
    id: spec.name,
    namespace: spec.namespace ?? "user",
    kind,
    capabilities,
    requires: requiresOf(commands),
    conflicts: [...new Set(all.flatMap(({ conflicts }) => conflicts ?? []))],
    versions: versionsOf(commands),
    params: paramsOfCommands(commands),
    state: stateOfCommands(commands),
    describeCommand: (command, ctx) => commands.get(command)?.describe?.(contextOf(command, ctx)),
    // It has something to offer as long as one of them has.
    shouldList: (ctx) => all.some((metadata) => metadata.shouldList?.(ctx) ?? true),
    notifications: all.flatMap(({ notifications }) => notifications ?? []),
    reminders: all.flatMap(({ reminders }) => reminders ?? []),
    access: (args) => named(args)?.metadata.access?.(withoutCommand(args)) ?? [],
    ...(all.some(({ asks }) => asks) && {
      asks: (args: ToolArguments) => named(args)?.metadata.asks?.(withoutCommand(args)) ?? false,
    }),
  };
}
