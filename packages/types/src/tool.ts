import type { JsonSchema } from "./json.js";

/** What a model is told of one tool, or of one command of a tool. */
export interface ToolDefinition {
  name: string;
  /** `"read"`, `"write"`, `"shell"`, ...: what a search groups by. */
  category: string;
  description: string;
  /** Schema of the arguments: an object. */
  arguments: JsonSchema;
  /** Schema of the structured result. */
  returns?: JsonSchema | undefined;
}

/** A tool as it is declared: one function, or several commands under one name. */
export type Tool =
  | { type: "single"; definition: ToolDefinition }
  | { type: "multi"; name: string; description?: string | undefined; commands: readonly ToolDefinition[] };

/** The form that goes over a wire: one flat function. */
export interface ToolFunctionSpec {
  name: string;
  description: string;
  parameters: JsonSchema;
  returns?: JsonSchema | undefined;
}

/** Why a tool is active: pinned, called while inactive, or found by the `shed` call named. */
export type ActivatedBy = "pin" | "call" | { toolCallId: string };

/**
 * What a request offers: `shed`, and the active tools in the order in which they became active. A wire with native
 * deferral may send `deferred` up front and reveal by `activations`.
 */
export interface ToolDeclarations {
  shed?: Tool | undefined;
  tools: readonly Tool[];
  deferred?: readonly Tool[] | undefined;
  activations: readonly { name: string; by: ActivatedBy }[];
}

/** The name a tool is called by. */
export function toolName(tool: Tool): string {
  return tool.type === "single" ? tool.definition.name : tool.name;
}

/**
 * The wire form of a tool. Several commands become one object schema: `command` (which one) and the union of their
 * properties, each saying which commands use it; providers refuse `oneOf` at the top. The strict schema of the command
 * named decides when the call arrives.
 */
export function functionSpec(tool: Tool): ToolFunctionSpec {
  if (tool.type === "single") {
    const { name, description, arguments: parameters, returns } = tool.definition;
    return returns === undefined ? { name, description, parameters } : { name, description, parameters, returns };
  }
  const names = tool.commands.map((command) => command.name);
  const properties: { [key: string]: object } = { command: { type: "string", enum: names } };
  const users = new Map<string, string[]>();
  for (const command of tool.commands) {
    for (const [key, schema] of Object.entries((command.arguments as ObjectSchema).properties ?? {})) {
      const usedBy = users.get(key);
      if (usedBy) usedBy.push(command.name);
      else users.set(key, [command.name]);
      // Two commands may mean different things by one name; then any of their forms may come.
      const known = properties[key] as { anyOf?: object[] } | undefined;
      if (known === undefined || key === "command") properties[key] ??= schema;
      else if (JSON.stringify(known) !== JSON.stringify(schema))
        properties[key] = { anyOf: [...(known.anyOf ?? [known]), schema] };
    }
  }
  for (const [key, usedBy] of users) {
    const schema = properties[key] as { description?: string };
    const note = `Used by: ${usedBy.join(", ")}.`;
    properties[key] = { ...schema, description: schema.description ? `${schema.description} ${note}` : note };
  }
  const lines = tool.commands.map((command) => `- ${command.name}: ${command.description}`);
  return {
    name: tool.name,
    description: [...(tool.description ? [tool.description] : []), "Commands:", ...lines].join("\n"),
    parameters: { type: "object", properties, required: ["command"], additionalProperties: false },
  };
}

interface ObjectSchema {
  properties?: { [key: string]: object };
}
