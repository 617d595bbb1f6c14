/** A JSON Schema as this package reads it; `true` and `false` are schemas too. */
export interface SchemaNode {
  readonly [keyword: string]: unknown;
}

/** The value as an object with keys, or undefined for anything else. */
export function objectOf(value: unknown): SchemaNode | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as SchemaNode) : undefined;
}

/** An own property, never one that every object inherits. */
export function own(node: SchemaNode | undefined, key: string): unknown {
  return node !== undefined && Object.hasOwn(node, key) ? node[key] : undefined;
}

/** The JSON type of a value; of a number, `number`. */
export function typeOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

/** Where a schema's keywords hold other schemas. */
const ONE_SCHEMA: readonly string[] = [
  "additionalItems",
  "unevaluatedItems",
  "contains",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
];
export const LIST_OF_SCHEMAS: readonly string[] = ["prefixItems", "allOf", "anyOf", "oneOf"];
export const MAP_OF_SCHEMAS: readonly string[] = [
  "$defs",
  "definitions",
  "properties",
  "patternProperties",
  "dependentSchemas",
];

/** The schemas that stand right inside one, with their place. */
export function* subschemas(node: SchemaNode): Generator<{ place: string; schema: unknown }, void, void> {
  for (const key of ONE_SCHEMA) if (Object.hasOwn(node, key)) yield { place: key, schema: node[key] };
  for (const key of LIST_OF_SCHEMAS) {
    const list = own(node, key);
    if (Array.isArray(list)) for (const [i, schema] of list.entries()) yield { place: `${key}/${i}`, schema };
  }
  for (const key of MAP_OF_SCHEMAS) {
    const map = objectOf(own(node, key));
    if (map !== undefined) for (const [name, schema] of Object.entries(map)) yield { place: `${key}/${name}`, schema };
  }
  const items = own(node, "items");
  if (Array.isArray(items)) for (const [i, schema] of items.entries()) yield { place: `items/${i}`, schema };
  else if (items !== undefined) yield { place: "items", schema: items };
  const dependencies = objectOf(own(node, "dependencies"));
  for (const [name, schema] of Object.entries(dependencies ?? {}))
    if (!Array.isArray(schema)) yield { place: `dependencies/${name}`, schema };
}

/** The draft a schema is written in: what `$schema` says, else draft-07 where it uses a form that only that has. */
export function schemaDraft(schema: object): "7" | "2020-12" {
  const named = own(schema as SchemaNode, "$schema");
  if (typeof named === "string" && named !== "") return /draft-0?[3-7]/.test(named) ? "7" : "2020-12";
  return usesDraft7(schema, 0) ? "7" : "2020-12";
}

const MAX_LOOK = 64; // deeper than any schema that is let in

function usesDraft7(schema: unknown, depth: number): boolean {
  const node = objectOf(schema);
  if (node === undefined || depth > MAX_LOOK) return false;
  if (Array.isArray(own(node, "items")) || Object.hasOwn(node, "additionalItems")) return true;
  for (const inner of subschemas(node)) if (usesDraft7(inner.schema, depth + 1)) return true;
  return false;
}
