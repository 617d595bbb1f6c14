import type { JsonSchema, Tool, ToolArguments, ToolDefinition } from "@shedkit/types";

/** The argument by which a model orders the calls of a batch, whose ids it cannot know while it writes them. */
export const AFTER = "_after";

const AFTER_SCHEMA: JsonSchema = {
  type: "array",
  items: { type: "integer", minimum: 0 },
  description: "Positions, from 0, of the calls of this batch that must succeed before this one runs.",
};

/** The tool as it is declared where calls can be ordered: every call takes an optional `_after`. */
export function withOrdering(tool: Tool): Tool {
  if (tool.type === "single") return { type: "single", definition: orderedDefinition(tool.definition) };
  return { ...tool, commands: tool.commands.map(orderedDefinition) };
}

/** The arguments as the tool knows them. */
export function withoutOrdering(args: ToolArguments): ToolArguments {
  if (!Object.hasOwn(args, AFTER)) return args;
  const { [AFTER]: _, ...rest } = args;
  return rest;
}

function orderedDefinition(definition: ToolDefinition): ToolDefinition {
  const schema = definition.arguments as { properties?: object };
  return { ...definition, arguments: { ...schema, properties: { ...schema.properties, [AFTER]: AFTER_SCHEMA } } };
}
