import type { JsonSchema, Tool, ToolArguments, ToolDefinition } from "@shedkit/types";

/** The names of a tool's parameters: inside (canonical) and outside (client). */
export interface ParamNames {
  toClient(canonical: string): string;
  /** Arguments by client names as arguments by canonical names. */
  toCanonical(args: ToolArguments): ToolArguments;
}

/** Canonical name to client name; what is not named stays. */
export function paramNames(renames: { readonly [canonical: string]: string }): ParamNames {
  const back = new Map(Object.entries(renames).map(([canonical, client]) => [client, canonical]));
  return {
    toClient: (canonical) => (Object.hasOwn(renames, canonical) ? (renames[canonical] ?? canonical) : canonical),
    toCanonical: (args) =>
      Object.fromEntries(Object.entries(args).map(([key, value]) => [back.get(key) ?? key, value])),
  };
}

/** The tool as the client sees it: its parameters renamed, at the top level alone. */
export function renameTool(tool: Tool, names: ParamNames): Tool {
  const one = (definition: ToolDefinition): ToolDefinition => ({
    ...definition,
    arguments: renameReferences(renameSchema(definition.arguments, names), names) as JsonSchema,
  });
  return tool.type === "single"
    ? { type: "single", definition: one(tool.definition) }
    : { ...tool, commands: tool.commands.map(one) };
}

/** Keywords that speak of the same object. */
const SAME_OBJECT_LISTS = ["allOf", "anyOf", "oneOf"];
const SAME_OBJECT = ["not", "if", "then", "else"];

function renameSchema(schema: JsonSchema, names: ParamNames): JsonSchema {
  const node = schema as { readonly [keyword: string]: unknown };
  const keys = (map: unknown, value: (item: unknown) => unknown = (item) => item): unknown =>
    isObject(map)
      ? Object.fromEntries(Object.entries(map).map(([key, item]) => [names.toClient(key), value(item)]))
      : map;
  const list = (names_: unknown): unknown =>
    Array.isArray(names_) ? names_.map((name) => (typeof name === "string" ? names.toClient(name) : name)) : names_;
  const inner = (part: unknown): unknown => (isObject(part) ? renameSchema(part, names) : part);
  return Object.fromEntries(
    Object.entries(node).map(([keyword, value]) => {
      if (keyword === "properties") return [keyword, keys(value)];
      if (keyword === "required") return [keyword, list(value)];
      if (keyword === "dependentRequired") return [keyword, keys(value, list)];
      if (keyword === "dependentSchemas") return [keyword, keys(value, inner)];
      if (keyword === "dependencies")
        return [keyword, keys(value, (item) => (Array.isArray(item) ? list(item) : inner(item)))];
      if (SAME_OBJECT.includes(keyword)) return [keyword, inner(value)];
      if (SAME_OBJECT_LISTS.includes(keyword) && Array.isArray(value)) return [keyword, value.map(inner)];
      return [keyword, value];
    }),
  );
}

/** The schema with references to renamed parameters led to their new names. */
function renameReferences(part: unknown, names: ParamNames): unknown {
  if (Array.isArray(part)) return part.map((item) => renameReferences(item, names));
  if (!isObject(part)) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) =>
      key === "$ref" && typeof value === "string" && value.startsWith("#/")
        ? [key, renamePointer(value, names)]
        : [key, renameReferences(value, names)],
    ),
  );
}

/** `#/properties/path/items`: each step that names a parameter of the object itself, by its new name. */
function renamePointer(reference: string, names: ParamNames): string {
  const steps = reference.slice(2).split("/");
  for (let at = 0; at < steps.length; ) {
    const keyword = steps[at] ?? "";
    if (NAMED_BY_PARAMETER.includes(keyword) && at + 1 < steps.length)
      steps[at + 1] = escaped(names.toClient(unescaped(steps[at + 1] ?? "")));
    if (keyword === "dependentSchemas" || keyword === "dependencies" || SAME_OBJECT_LISTS.includes(keyword)) at += 2;
    else if (SAME_OBJECT.includes(keyword)) at += 1;
    else break; // from here on it speaks of something else
  }
  return `#/${steps.join("/")}`;
}

const NAMED_BY_PARAMETER = ["properties", "dependentSchemas", "dependencies"];

function unescaped(step: string): string {
  let plain = step;
  try {
    plain = decodeURIComponent(step);
  } catch {
    // it stands for itself
  }
  return plain.replaceAll("~1", "/").replaceAll("~0", "~");
}

function escaped(name: string): string {
  return encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The canonical names of a tool's parameters, of all its commands. */
export function parametersOf(tool: Tool): string[] {
  const definitions = tool.type === "single" ? [tool.definition] : tool.commands;
  const names = definitions.flatMap(({ arguments: schema }) => {
    const properties: unknown = isObject(schema) && "properties" in schema ? schema.properties : undefined;
    return isObject(properties) ? Object.keys(properties) : [];
  });
  return [...new Set(names)];
}
