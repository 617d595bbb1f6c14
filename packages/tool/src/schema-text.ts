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

/** The subschema that a local reference (`#`, `#/$defs/name`) names. */
export function resolveLocal(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#")) return undefined;
  let node: unknown = root;
  for (const step of reference.slice(1).split("/").slice(1)) {
    let key = step;
    try {
      key = decodeURIComponent(step);
    } catch {
      // A stray percent sign stands for itself.
    }
    key = key.replaceAll("~1", "/").replaceAll("~0", "~");
    node = Array.isArray(node) ? node[Number(key)] : own(objectOf(node), key);
  }
  return node;
}

const MAX_HOPS = 16; // a reference may lead to itself

/** The schema behind its references; of a schema with a circle of them, some schema of the circle. */
export function follow(root: unknown, schema: unknown): SchemaNode | undefined {
  let node = objectOf(schema);
  for (let hop = 0; hop < MAX_HOPS && typeof node?.$ref === "string"; hop++) {
    const target = objectOf(resolveLocal(root, node.$ref));
    if (target === undefined) return node;
    node = target;
  }
  return node;
}

/** The draft a schema is written in: what `$schema` says, else draft-07 where it uses a form that only that has. */
export function schemaDraft(schema: object): "7" | "2020-12" {
  const named = (schema as SchemaNode).$schema;
  if (typeof named === "string" && named !== "") return /draft-0?[3-7]/.test(named) ? "7" : "2020-12";
  return usesDraft7(schema, 0) ? "7" : "2020-12";
}

function usesDraft7(node: unknown, depth: number): boolean {
  if (typeof node !== "object" || node === null || depth > 64) return false;
  if (Array.isArray(node)) return node.some((item) => usesDraft7(item, depth + 1));
  const schema = node as SchemaNode;
  if (Array.isArray(schema.items) || Object.hasOwn(schema, "additionalItems")) return true;
  return Object.entries(schema).some(([key, value]) => !DATA.has(key) && usesDraft7(value, depth + 1));
}

/** Keywords whose value is data, not a schema. */
const DATA: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);

/** What a schema wants, in a few words. */
export function describeSchema(root: unknown, schema: unknown, depth = 0): string {
  const node = follow(root, schema);
  if (node === undefined || depth > 3) return "another value";
  if ("const" in node) return JSON.stringify(node.const);
  if (Array.isArray(node.enum)) return oneOf(node.enum.map((value) => JSON.stringify(value)));
  for (const key of ["anyOf", "oneOf"] as const) {
    const branches = node[key];
    if (Array.isArray(branches)) return oneOf(branches.map((branch) => describeSchema(root, branch, depth + 1)));
  }
  if (Array.isArray(node.type)) return oneOf(node.type.map((type) => typeName(String(type))));
  if (node.type === "array" && node.items !== undefined)
    return `a list of: ${describeSchema(root, node.items, depth + 1)}`;
  if (typeof node.type === "string") return typeName(node.type);
  if (objectOf(node.properties) !== undefined) return typeName("object");
  return "another value";
}

const MAX_CHOICES = 20;

function oneOf(choices: readonly string[]): string {
  const unique = [...new Set(choices)];
  const shown = unique.slice(0, MAX_CHOICES);
  if (unique.length > MAX_CHOICES) return `one of ${shown.join(", ")} and ${unique.length - MAX_CHOICES} more`;
  return shown.length > 2 ? `one of ${shown.join(", ")}` : shown.join(" or ");
}

const TYPE_NAMES: { readonly [type: string]: string } = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null",
};

export function typeName(type: string): string {
  return TYPE_NAMES[type] ?? type;
}
