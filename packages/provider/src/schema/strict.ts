import type { JsonValue } from "@shedkit/types";
import { acceptsNull, asNode, asNodes, propertiesOf, requiredOf, type SchemaNode, typesOf } from "./node.js";
import type { Notes } from "./root.js";

/** Keywords that a strict schema may not have, and that change what is valid too much to leave them out. */
const UNFIT = [
  "not",
  "if",
  "patternProperties",
  "dependentRequired",
  "dependentSchemas",
  "propertyNames",
  "unevaluatedProperties",
  "unevaluatedItems",
  "dependencies",
  "$dynamicRef",
  "$recursiveRef",
  "prefixItems",
  "contains",
] as const;

/** Keywords that a strict schema may not have either, and that a description can carry. */
const HINTS = ["minLength", "maxLength", "uniqueItems", "minProperties", "maxProperties", "default"] as const;

/** What a strict schema may have, as far as it is here; any other keyword is refused, whatever it means elsewhere. */
const KEPT: ReadonlySet<string> = new Set([
  ...[
    "type",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "oneOf",
  ],
  ...["$ref", "$defs", "definitions", "pattern", "format", "multipleOf", "minimum", "maximum"],
  ...["exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"],
]);
const FORMATS = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

const MAX_DEPTH = 10;
const MAX_PROPERTIES = 5000;
const MAX_ENUM = 1000;

/**
 * The schema in the form that OpenAI's strict mode takes: every object closed, every property required, an optional
 * one nullable instead. Undefined where the schema does not qualify; it is then sent as it is, without strict.
 */
export function strictSchema(
  root: SchemaNode,
  notes: Notes,
  moreHints: readonly string[] = [],
): SchemaNode | undefined {
  const own: Notes = [];
  const work: Work = { root, notes: own, hints: [...HINTS, ...moreHints], properties: 0, enums: 0 };
  try {
    const schema = convert(root, work, 0, true);
    notes.push(...own);
    return schema;
  } catch (error) {
    if (error instanceof Unfit) return undefined;
    throw error;
  }
}

class Unfit extends Error {}

interface Work {
  root: SchemaNode;
  notes: Notes;
  hints: readonly string[];
  properties: number;
  enums: number;
}

function convert(node: SchemaNode, work: Work, depth: number, top = false): SchemaNode {
  if (depth > MAX_DEPTH) throw new Unfit("too deep");
  const defs = convertDefs(node, work, depth);
  if (typeof node.$ref === "string") return { $ref: node.$ref, ...defs };
  const all = asNodes(node.allOf);
  if (all.length === 1 && all[0] !== undefined) {
    const { allOf: _, ...rest } = node;
    return convert({ ...all[0], ...rest }, work, depth, top);
  }
  const bad = UNFIT.find((key) => key in node) ?? (all.length > 1 ? "allOf" : undefined);
  if (bad !== undefined) throw new Unfit(bad);

  const out: SchemaNode = { ...hinted(node, work), ...defs };
  const union = [...asNodes(node.anyOf), ...asNodes(node.oneOf)];
  if (union.length > 0) {
    if ("properties" in node) throw new Unfit("a union beside properties");
    delete out.oneOf;
    out.anyOf = union.map((branch) => convert(branch, work, depth + 1) as JsonValue);
    return out;
  }
  if ("const" in out) {
    out.enum = [out.const as JsonValue];
    delete out.const;
  }
  if (Array.isArray(out.enum)) {
    work.enums += out.enum.length;
    if (work.enums > MAX_ENUM) throw new Unfit("too many enum values");
    return out;
  }
  const types = typesOf(node);
  if (types.length === 0 && !("properties" in node)) throw new Unfit("anything");
  if (types.includes("object") || "properties" in node) convertObject(node, out, work, depth, top);
  if (types.includes("array")) {
    const items = asNode(node.items);
    if (items === undefined) throw new Unfit("items");
    out.items = convert(items, work, depth + 1) as JsonValue;
  }
  return out;
}

function convertObject(node: SchemaNode, out: SchemaNode, work: Work, depth: number, top: boolean): void {
  const { additionalProperties } = node;
  if (additionalProperties !== undefined && additionalProperties !== false) throw new Unfit("additionalProperties");
  const properties = propertiesOf(node);
  if (properties.length === 0 && additionalProperties === undefined && !top) throw new Unfit("an object of anything");
  work.properties += properties.length;
  if (work.properties > MAX_PROPERTIES) throw new Unfit("too many properties");
  const required = new Set(requiredOf(node));
  if ([...required].some((key) => !properties.some(([name]) => name === key)))
    throw new Unfit("required, not described");
  out.type ??= "object";
  out.properties = Object.fromEntries(
    properties.map(([key, inner]) => {
      const converted = convert(inner, work, depth + 1);
      return [key, (required.has(key) ? converted : nullable(converted, work.root)) as JsonValue];
    }),
  );
  out.required = properties.map(([key]) => key);
  out.additionalProperties = false;
}

function convertDefs(node: SchemaNode, work: Work, depth: number): SchemaNode {
  const out: SchemaNode = {};
  for (const key of ["$defs", "definitions"]) {
    const group = asNode(node[key]);
    if (group === undefined) continue;
    out[key] = Object.fromEntries(
      Object.entries(group).map(([name, inner]) => [name, convert(asNode(inner) ?? {}, work, depth + 1) as JsonValue]),
    );
  }
  return out;
}

/** The node without what strict mode refuses; what matters of it goes into the description. */
function hinted(node: SchemaNode, work: Work): SchemaNode {
  const out: SchemaNode = { ...node };
  const hints: string[] = [];
  for (const key of work.hints) {
    if (!(key in out)) continue;
    hints.push(`${key}: ${JSON.stringify(out[key])}`);
    delete out[key];
  }
  for (const key of Object.keys(out)) if (!KEPT.has(key)) delete out[key];
  if (typeof out.format === "string" && !FORMATS.includes(out.format)) {
    hints.push(`format: ${out.format}`);
    delete out.format;
  }
  if (hints.length === 0) return out;
  out.description = [node.description, `(${hints.join(", ")})`].filter(Boolean).join(" ");
  const checked = hints.filter((hint) => !hint.startsWith("default"));
  if (checked.length > 0) work.notes.push(`${checked.join(", ")} stands in the description and is checked here`);
  return out;
}

function nullable(node: SchemaNode, root: SchemaNode): SchemaNode {
  if (acceptsNull(node, root)) return node;
  const types = typesOf(node);
  if (types.length === 0 || node.anyOf !== undefined) {
    if (Array.isArray(node.enum)) return { ...node, enum: [...node.enum, null] };
    const branches = node.anyOf === undefined ? [node] : asNodes(node.anyOf);
    const rest = node.anyOf === undefined ? {} : withoutUnion(node);
    return { ...rest, anyOf: [...branches, { type: "null" }] as JsonValue[] };
  }
  return {
    ...node,
    type: [...types, "null"],
    ...(Array.isArray(node.enum) ? { enum: [...node.enum, null] } : {}),
  };
}

function withoutUnion({ anyOf: _, ...rest }: SchemaNode): SchemaNode {
  return rest;
}
