import { seeded } from "../data.mjs";

/** BFCL writes its own names of types. */
const TYPES = {
  dict: "object",
  float: "number",
  tuple: "array",
  bool: "boolean",
  int: "integer",
  String: "string",
  Boolean: "boolean",
  ArrayList: "array",
  Array: "array",
  HashMap: "object",
  hashmap: "object",
  Hashtable: "object",
  char: "string",
  long: "integer",
  double: "number",
  byte: "integer",
  short: "integer",
  Queue: "array",
  Stack: "array",
  Bigint: "integer",
  date: "string",
};
const KNOWN = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);

export function jsonSchema(schema) {
  if (Array.isArray(schema)) return schema.map(jsonSchema);
  if (typeof schema !== "object" || schema === null) return schema;
  const { type, properties, items, optional: _, ...rest } = schema;
  const found = typeof type === "string" ? (TYPES[type] ?? (KNOWN.has(type) ? type : undefined)) : undefined;
  return {
    ...(found && { type: found }),
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, jsonSchema(value)])),
    }),
    ...(items && { items: jsonSchema(items) }),
    ...(found === "array" && !items && { items: {} }),
  };
}

/** Wires take letters, digits, `_` and `-`, 64 at most. */
export function wireName(name) {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
}

/** What a model would send: something of each type that is required. */
function sample(schema, seed) {
  if (schema.enum) return schema.enum[seed % schema.enum.length];
  if (schema.type === "object")
    return Object.fromEntries(
      (schema.required ?? []).map((key) => [key, sample(schema.properties?.[key] ?? { type: "string" }, seed + 1)]),
    );
  if (schema.type === "array") return [sample(schema.items ?? { type: "string" }, seed + 1)];
  if (schema.type === "number" || schema.type === "integer") return (seed % 90) + 1;
  if (schema.type === "boolean") return seed % 2 === 0;
  return `value ${seed}`;
}

/**
 * A task of ten steps and `count` tools to do it with: ten requests of BFCL, each with the one tool that answers it, and other
 * tools of BFCL beside those.
 */
export function taskOf({ tools: all, queries }, count, seed = 1) {
  const random = seeded(seed);
  const byName = new Map();
  for (const { definition } of all) {
    const { name, description, arguments: parameters } = definition;
    const schema = { type: "object", properties: {}, ...jsonSchema(parameters) };
    byName.set(name, { name: wireName(name), description, parameters: schema });
  }
  const shuffled = queries
    .filter(({ tools }) => tools.length === 1 && byName.has(tools[0]))
    .map((each) => [random(), each]);
  const steps = [];
  const tools = new Map();
  for (const [
    ,
    {
      query,
      tools: [name],
    },
  ] of shuffled.sort(([a], [b]) => a - b)) {
    const tool = byName.get(name);
    if (tools.has(tool.name)) continue;
    tools.set(tool.name, tool);
    steps.push({
      query,
      tool: tool.name,
      description: tool.description,
      args: sample(tool.parameters, steps.length * 7 + 3),
    });
    if (steps.length === 10) break;
  }
  const others = [...byName.values()].map((tool) => [random(), tool]).sort(([a], [b]) => a - b);
  for (const [, tool] of others) {
    if (tools.size >= count) break;
    if (!tools.has(tool.name)) tools.set(tool.name, tool);
  }
  const mixed = [...tools.values()].map((tool) => [random(), tool]).sort(([a], [b]) => a - b);
  return { steps, tools: mixed.map(([, tool]) => tool) };
}
