import type { JsonValue } from "@shedkit/types";
import {
  asNode,
  asNodes,
  copySchema,
  mapNodes,
  propertiesOf,
  requiredOf,
  resolveNode,
  type SchemaNode,
  typesOf,
} from "./node.js";

/** A list that says what a compiled schema no longer says. */
export type Notes = string[];

/** Types of other worlds that tools bring along. */
const FOREIGN_TYPES: { readonly [type: string]: string } = {
  dict: "object",
  map: "object",
  float: "number",
  double: "number",
  int: "integer",
  str: "string",
  bool: "boolean",
  list: "array",
  tuple: "array",
};

/**
 * A schema without what no wire takes: foreign keywords and types, references that lead out of it, and forms of older
 * drafts of JSON Schema, which become those of 2020-12.
 */
export function cleanSchema(schema: object, notes: Notes): SchemaNode {
  return mapNodes(copySchema(schema), (given) => {
    const { $schema: _schema, $id: _id, $comment: _comment, ...rest } = newerForm(given);
    if (typeof rest.$ref === "string" && !rest.$ref.startsWith("#")) {
      notes.push(`the reference ${rest.$ref} leads out of the schema; anything is let through there`);
      return rest.description === undefined ? {} : { description: rest.description };
    }
    if (typeof rest.type === "string") {
      const type = FOREIGN_TYPES[rest.type] ?? rest.type;
      if (type !== "any") return { ...rest, type };
      const { type: _any, ...untyped } = rest;
      return untyped;
    }
    return rest;
  });
}

/** Keywords that have one type of value, and are left out where it is another. */
const VALUES: { readonly [keyword: string]: (value: unknown) => boolean } = {
  description: (value) => typeof value === "string",
  required: Array.isArray, // once a boolean of the property itself
  properties: (value) => asNode(value) !== undefined, // `[]` where PHP wrote an empty map
};

function newerForm(node: SchemaNode): SchemaNode {
  const out: SchemaNode = { ...node };
  for (const [keyword, fits] of Object.entries(VALUES)) if (keyword in out && !fits(out[keyword])) delete out[keyword];
  for (const [exclusive, bound] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (typeof out[exclusive] !== "boolean") continue; // once it said of the bound that it is exclusive
    const value = out[exclusive] ? out[bound] : undefined;
    delete out[exclusive];
    if (value === undefined) continue;
    out[exclusive] = value;
    delete out[bound];
  }
  if (Array.isArray(out.items)) {
    out.prefixItems = out.items;
    out.items = out.additionalItems ?? {};
    delete out.additionalItems;
  } else if (typesOf(out).some((type) => type === "array" || FOREIGN_TYPES[type] === "array")) {
    out.items ??= {}; // OpenAI refuses a list that does not say of what
  }
  return out;
}

/**
 * The schema of a tool's arguments as an object without a union at its top, which is what the wires take. A union of
 * objects becomes one object with the properties of all.
 */
export function objectRoot(schema: SchemaNode, notes: Notes): SchemaNode {
  const { $ref, ...own } = schema;
  const base: SchemaNode = $ref === undefined ? { ...own } : { ...resolveNode(schema, schema), ...own };
  for (const key of ["allOf", "anyOf", "oneOf"] as const) {
    const branches = asNodes(base[key]).map((branch) => resolveNode(branch, schema));
    delete base[key];
    if (branches.length > 0) mergeBranches(base, branches, key === "allOf", notes);
  }
  for (const key of ["not", "if", "then", "else", "enum", "const"]) {
    if (!(key in base)) continue;
    delete base[key];
    notes.push(`"${key}" at the top of the schema is checked here, not by the provider`);
  }
  base.type = "object";
  base.properties ??= {};
  return base;
}

function mergeBranches(base: SchemaNode, branches: readonly SchemaNode[], all: boolean, notes: Notes): void {
  const properties: { [key: string]: JsonValue | undefined } = { ...asNode(base.properties) };
  for (const branch of branches) {
    for (const [key, inner] of propertiesOf(branch)) {
      const known = asNode(properties[key]);
      properties[key] = (known === undefined ? inner : either(known, inner)) as JsonValue;
    }
  }
  const lists = branches.map(requiredOf);
  const shared = all ? lists.flat() : (lists[0] ?? []).filter((key) => lists.every((list) => list.includes(key)));
  base.properties = properties;
  base.required = [...new Set([...requiredOf(base), ...shared])];
  if (!all) notes.push("a union at the top became one object; which combinations are valid is checked here");
}

function either(a: SchemaNode, b: SchemaNode): SchemaNode {
  if (JSON.stringify(a) === JSON.stringify(b)) return a;
  const constants = [a, b].map((node) =>
    "const" in node ? [node.const] : Array.isArray(node.enum) ? node.enum : undefined,
  );
  const [first, second] = constants;
  if (first !== undefined && second !== undefined) {
    const { const: _const, ...rest } = a;
    return { ...rest, enum: [...new Set([...first, ...second])] as JsonValue[] };
  }
  return { anyOf: [...(Object.keys(a).join() === "anyOf" ? asNodes(a.anyOf) : [a]), b] as JsonValue[] };
}
