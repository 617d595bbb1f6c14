import type { JsonSchema, Tool, ToolDefinition } from "@shedkit/types";

/** The texts of a tool that a search looks at. */
export interface ToolFields {
  name: string;
  category: string;
  description: string;
  /** Names of arguments (and of commands). */
  argumentNames: string;
  /** What is said of the arguments. */
  argumentTexts: string;
}

const MAX_DEPTH = 4; // of nested schemas: deeper ones say little of what a tool is for
const MAX_PROPERTIES = 200;

/** What of a tool is searched. A tool of several commands is searched by all of them. */
export function fieldsOf(tool: Tool): ToolFields {
  if (tool.type === "single")
    return fieldsOfDefinitions(tool.definition.name, tool.definition.description, [tool.definition]);
  const fields = fieldsOfDefinitions(tool.name, tool.description ?? "", tool.commands);
  const commands = tool.commands.map((command) => `${command.name} ${command.description}`);
  return { ...fields, description: [fields.description, ...commands].join(" ") };
}

function fieldsOfDefinitions(name: string, description: string, definitions: readonly ToolDefinition[]): ToolFields {
  const names: string[] = [];
  const texts: string[] = [];
  for (const { arguments: schema } of definitions) collect(schema, names, texts, 0);
  return {
    name,
    category: Array.from(new Set(definitions.map(({ category }) => category))).join(" "),
    description,
    argumentNames: names.join(" "),
    argumentTexts: texts.join(" "),
  };
}

interface SchemaShape {
  description?: unknown;
  properties?: unknown;
  items?: unknown;
}

function collect(schema: JsonSchema, names: string[], texts: string[], depth: number): void {
  const { properties, items } = schema as SchemaShape;
  if (isObject(properties)) {
    for (const [name, property] of Object.entries(properties)) {
      if (names.length >= MAX_PROPERTIES) return;
      names.push(name);
      if (!isObject(property)) continue;
      const { description } = property as SchemaShape;
      if (typeof description === "string") texts.push(description);
      if (depth < MAX_DEPTH) collect(property, names, texts, depth + 1);
    }
  }
  if (isObject(items) && depth < MAX_DEPTH) collect(items, names, texts, depth + 1);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
