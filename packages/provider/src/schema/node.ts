import type { JsonValue } from "@shedkit/types";

/** A JSON Schema that may be changed: a copy of the tool's. */
export type SchemaNode = { [key: string]: JsonValue | undefined };

/** A deep copy as plain JSON: symbols and functions of schema builders are gone. */
export function copySchema(schema: object): SchemaNode {
  return JSON.parse(JSON.stringify(schema)) as SchemaNode;
}

/** A value as a schema; `undefined` where it is not an object. */
export function asNode(value: unknown): SchemaNode | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as SchemaNode) : undefined;
}

/** A value as a list of schemas. */
export function asNodes(value: unknown): SchemaNode[] {
  return Array.isArray(value) ? value.map(asNode).filter((node) => node !== undefined) : [];
}

/** The properties of an object schema. */
export function propertiesOf(node: SchemaNode): [string, SchemaNode][] {
  return Object.entries(asNode(node.properties) ?? {}).map(([key, inner]) => [key, asNode(inner) ?? {}]);
}

/** The names in `required`. */
export function requiredOf(node: SchemaNode): string[] {
  return Array.isArray(node.required) ? node.required.filter((key) => typeof key === "string") : [];
}

/** The types that a schema names. */
export function typesOf(node: SchemaNode): string[] {
  const types = Array.isArray(node.type) ? node.type : [node.type];
  return types.filter((type) => typeof type === "string");
}

/** The schema behind local references; the node itself where it has none. References that go in a circle end. */
export function resolveNode(node: SchemaNode, root: SchemaNode): SchemaNode {
  let at = node;
  for (let hops = 0; typeof at.$ref === "string" && hops < 16; hops++) {
    const target = asNode(lookUp(root, at.$ref));
    if (target === undefined) return at;
    at = target;
  }
  return at;
}

/** What a local reference (`#/$defs/x`) points at. */
function lookUp(root: SchemaNode, ref: string): unknown {
  if (!ref.startsWith("#")) return undefined;
  let at: unknown = root;
  for (const part of ref.slice(1).split("/").slice(1)) {
    const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    at = typeof at === "object" && at !== null ? (at as { [key: string]: unknown })[key] : undefined;
  }
  return at;
}

/** Whether `null` fits. */
export function acceptsNull(node: SchemaNode, root: SchemaNode, depth = 0): boolean {
  const at = resolveNode(node, root);
  if (depth > 16) return false;
  if ("const" in at) return at.const === null;
  if (Array.isArray(at.enum)) return at.enum.includes(null);
  const union = [...asNodes(at.anyOf), ...asNodes(at.oneOf)];
  if (union.length > 0) return union.some((branch) => acceptsNull(branch, root, depth + 1));
  const types = typesOf(at);
  return types.length === 0 ? !("allOf" in at || "properties" in at) : types.includes("null");
}

/** Rebuilds every schema inside a node by `change`, innermost first. */
export function mapNodes(node: SchemaNode, change: (node: SchemaNode) => SchemaNode): SchemaNode {
  const out: SchemaNode = { ...node };
  for (const key of ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"]) {
    const group = asNode(out[key]);
    if (group === undefined) continue;
    out[key] = Object.fromEntries(
      Object.entries(group).map(([name, inner]) => [name, mapNodes(asNode(inner) ?? {}, change) as JsonValue]),
    );
  }
  for (const key of ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"]) {
    const inner = asNode(out[key]);
    if (inner !== undefined) out[key] = mapNodes(inner, change) as JsonValue;
  }
  for (const key of ["anyOf", "oneOf", "allOf", "prefixItems", "items"]) {
    if (Array.isArray(out[key])) out[key] = asNodes(out[key]).map((inner) => mapNodes(inner, change) as JsonValue);
  }
  return change(out);
}
