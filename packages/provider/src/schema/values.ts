import type { JsonValue } from "@shedkit/types";
import {
  acceptsNull,
  asNode,
  asNodes,
  propertiesOf,
  requiredOf,
  resolveNode,
  type SchemaNode,
  typesOf,
} from "./node.js";

/** How the keys of arguments are called on the wire, by their own name. */
export type KeyNames = ReadonlyMap<string, string>;

type Fields = { [key: string]: JsonValue };

/**
 * Arguments as the tool knows them, from what came over the wire: keys by their own names, and no `null` for an
 * optional property whose schema has none. `schema` is the tool's own.
 */
export function decodeValue(value: JsonValue, schema: SchemaNode, keys: KeyNames, strict: boolean): JsonValue {
  const names = new Map([...keys].map(([own, wire]) => [wire, own]));
  const walk = (at: JsonValue, given: SchemaNode): JsonValue => {
    const node = branchFor(at, given, schema);
    if (Array.isArray(at)) {
      const first = asNodes(node.prefixItems);
      const rest = asNode(node.items);
      return at.map((item: JsonValue, i) => {
        const schema = first[i] ?? rest;
        return schema === undefined ? item : walk(item, schema);
      });
    }
    const fields = asFields(at);
    if (fields === undefined) return at;
    const properties = new Map(propertiesOf(node));
    const required = requiredOf(node);
    const out: Fields = {};
    for (const [wire, inner] of Object.entries(fields)) {
      const named = names.get(wire);
      const key = named !== undefined && !properties.has(wire) ? named : wire;
      const property = properties.get(key);
      if (property === undefined) set(out, key, inner);
      else if (!strict || inner !== null || required.includes(key) || acceptsNull(property, schema)) {
        set(out, key, walk(inner, property));
      }
    }
    return out;
  };
  return walk(value, schema);
}

/** Arguments as the wire calls them. */
export function encodeValue(value: JsonValue, keys: KeyNames): JsonValue {
  if (keys.size === 0) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => encodeValue(item, keys));
  const fields = asFields(value);
  if (fields === undefined) return value;
  const out: Fields = {};
  for (const [key, inner] of Object.entries(fields)) set(out, keys.get(key) ?? key, encodeValue(inner, keys));
  return out;
}

/** The schema, or the branch of its union, that describes a value best: by type, then by constants, then by keys. */
function branchFor(value: JsonValue, given: SchemaNode, root: SchemaNode, depth = 0): SchemaNode {
  const node = resolveNode(given, root);
  const branches = [...asNodes(node.anyOf), ...asNodes(node.oneOf), ...asNodes(node.allOf)];
  if (branches.length === 0 || depth > 8) return node;
  const chosen = branches
    .map((branch) => branchFor(value, branch, root, depth + 1))
    .map((branch) => ({ branch, score: scoreOf(value, branch) }))
    .reduce((best, next) => (next.score > best.score ? next : best));
  return propertiesOf(node).length === 0 ? chosen.branch : { ...chosen.branch, ...node };
}

function scoreOf(value: JsonValue, node: SchemaNode): number {
  const fields = asFields(value);
  const types = typesOf(node);
  const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  if (types.length > 0 && !types.includes(type) && !(type === "number" && types.includes("integer"))) return -1;
  if (fields === undefined) return 0;
  let score = 0;
  for (const [key, property] of propertiesOf(node)) {
    if (!(key in fields)) continue;
    const constants = "const" in property ? [property.const] : Array.isArray(property.enum) ? property.enum : undefined;
    if (constants === undefined) score += 1;
    else score += constants.some((constant) => constant === fields[key]) ? 100 : -100;
  }
  return score;
}

function asFields(value: JsonValue): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** Also where the key is `__proto__`. */
function set(out: Fields, key: string, value: JsonValue): void {
  Object.defineProperty(out, key, { value, enumerable: true, configurable: true, writable: true });
}
