import { objectOf, own, type SchemaNode } from "./node.js";

/** What a schema wants, in a few words. `follow` leads from a reference to what it names. */
export function describeSchema(schema: unknown, follow: (node: SchemaNode) => unknown, depth = 0): string {
  const node = objectOf(schema);
  if (node === undefined || depth > MAX_DEPTH) return schema === false ? "nothing" : "another value";
  const inner = (part: unknown): string => describeSchema(part, follow, depth + 1);
  if (typeof own(node, "$ref") === "string") return inner(follow(node));
  if (Object.hasOwn(node, "const")) return JSON.stringify(node.const) ?? "another value";
  if (Array.isArray(node.enum)) return choice(node.enum.map((value) => JSON.stringify(value) ?? "null"));
  const branches = node.anyOf ?? node.oneOf;
  if (Array.isArray(branches)) return choice(branches.map(inner));
  if (Array.isArray(node.type)) return choice(node.type.map((type) => typeName(String(type))));
  if (node.type === "array" && objectOf(node.items) !== undefined) return `a list of: ${inner(node.items)}`;
  if (typeof node.type === "string") return typeName(node.type);
  if (objectOf(node.properties) !== undefined) return typeName("object");
  return "another value";
}

const MAX_DEPTH = 4;
const MAX_CHOICES = 20;

function choice(choices: readonly string[]): string {
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

function typeName(type: string): string {
  return TYPE_NAMES[type] ?? type;
}
