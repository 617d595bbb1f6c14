import type { Tool, ToolArguments, ToolDefinition } from "@shedkit/types";
import { capabilitiesFor } from "./defaults.js";
import type { TypedTool } from "./define.js";
import { ToolError } from "./error.js";
import type { ToolContext, ToolEvent, ToolImpl } from "./impl.js";
import type { ToolCapabilities, ToolMetadata } from "./metadata.js";
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
 * parameters. The whole may do what any of its commands may.
 *
 * Throws ToolError `invalidArguments` where there is no command, or one takes a parameter named `command`.
 */
export function defineCommands(spec: CommandsSpec): ToolImpl {
  const commands = new Map(Object.entries(spec.commands));
  if (commands.size === 0) throw new ToolError("invalidArguments", spec.name, `${spec.name} has no commands.`);
  const definitions = [...commands].map(([command, tool]) => definitionOf(spec.name, command, tool));
  const definition: Tool = { type: "multi", name: spec.name, description: spec.description, commands: definitions };
  const named = (args: ToolArguments): TypedTool<never, unknown> | undefined => commands.get(String(args.command));
  return {
    metadata: metadataFrom(spec, [...commands.values()], named),
    definition: () => definition,
    execute(args: ToolArguments, ctx: ToolContext): Promise<never> | AsyncIterable<ToolEvent> {
      const tool = named(args);
      if (tool === undefined) {
        const names = [...commands.keys()].join(", ");
        const message = `${spec.name} has no command ${JSON.stringify(args.command)}. It has: ${names}.`;
        return Promise.reject(new ToolError("invalidArguments", ctx.names.tool, message));
      }
      return tool.execute(withoutCommand(args), ctx) as AsyncIterable<ToolEvent>;
    },
  };
}

function definitionOf(name: string, command: string, tool: TypedTool<never, unknown>): ToolDefinition {
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

function metadataFrom(
  spec: CommandsSpec,
  tools: readonly TypedTool<never, unknown>[],
  named: (args: ToolArguments) => TypedTool<never, unknown> | undefined,
): ToolMetadata {
  const all = tools.map((tool) => tool.metadata);
  const kinds = new Set(all.map((metadata) => metadata.kind));
  const kind = kinds.size === 1 ? (all[0]?.kind ?? "other") : "other";
  const every = (flag: "readOnly" | "idempotent"): boolean => all.every(({ capabilities }) => capabilities[flag]);
  const capabilities: ToolCapabilities = capabilitiesFor(kind, {
    readOnly: every("readOnly"),
    idempotent: every("idempotent"),
    destructive: all.some(({ capabilities }) => capabilities.destructive),
    timeoutMs: Math.max(...all.map(({ capabilities }) => capabilities.timeoutMs)),
    touches: (args) => named(args)?.metadata.capabilities.touches(withoutCommand(args)) ?? [],
  });
  return {
    id: spec.name,
    namespace: spec.namespace ?? "user",
    kind,
    capabilities,
    notifications: all.flatMap(({ notifications }) => notifications ?? []),
    reminders: all.flatMap(({ reminders }) => reminders ?? []),
    access: (args) => named(args)?.metadata.access?.(withoutCommand(args)) ?? [],
  };
}
