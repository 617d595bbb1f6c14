import type { JsonSchema } from "@shedkit/types";
import { exactNumber } from "./json-number.js";
import { readJson } from "./json-text.js";
import { objectOf, own, type SchemaNode, typeOf } from "./schema/node.js";
import { evalFreeValidator, type ReadingValidator, type ReadSchema } from "./schema/validator.js";
import type { SchemaValidator } from "./schema.js";

/** What a repair needs to know, and where it writes down what it did. */
interface Repair {
  readonly schema: ReadSchema;
  readonly done: string[];
}

/**
 * The value as the schema most likely wants it: no value is made up, only the same value is written in the form the
 * schema asks for. What already fits is left alone. `done` takes one line for each change. The schema is read as the
 * validator reads it, under its limits, where it can read parts.
 */
export function repairValue(
  schema: JsonSchema,
  value: unknown,
  done: string[],
  validator: SchemaValidator = evalFreeValidator,
): unknown {
  const reader = isReading(validator) ? validator : evalFreeValidator;
  return repairAt({ schema: reader.read(schema), done }, schema, value, "");
}

function isReading(validator: SchemaValidator): validator is ReadingValidator {
  return "read" in validator;
}

function repairAt(repair: Repair, schema: unknown, value: unknown, path: string): unknown {
  const node = objectOf(repair.schema.follow(schema));
  if (node === undefined) return value;
  const branches = branchesOf(node);
  if (branches !== undefined) return repairBranches(repair, node, branches, value, path);
  const all = Array.isArray(node.allOf) ? node.allOf : [];
  const own = repairPlain(repair, node, value, path);
  return all.reduce<unknown>((current, part) => repairAt(repair, part, current, path), own);
}

function branchesOf(node: SchemaNode): readonly unknown[] | undefined {
  const branches = node.anyOf ?? node.oneOf;
  return Array.isArray(branches) ? branches : undefined;
}

/** A value that fits a branch stays; else the first branch that a repair makes it fit. */
function repairBranches(repair: Repair, node: SchemaNode, branches: readonly unknown[], value: unknown, path: string) {
  const plain = repairPlain(repair, node, value, path);
  if (branches.some((branch) => fits(repair, branch, plain))) return plain;
  for (const branch of branches) {
    const done: string[] = [];
    const repaired = repairAt({ ...repair, done }, branch, plain, path);
    if (done.length > 0 && fits(repair, branch, repaired)) {
      repair.done.push(...done);
      return repaired;
    }
  }
  return plain;
}

function fits(repair: Repair, part: unknown, value: unknown): boolean {
  return !holdsBigint(value) && repair.schema.fits(part, value);
}

function repairPlain(repair: Repair, node: SchemaNode, value: unknown, path: string): unknown {
  const wanted = typesOf(node);
  const change = (to: unknown): unknown => {
    repair.done.push(`${path === "" ? "arguments" : path}: ${short(value)} -> ${short(to)}`);
    return to;
  };
  const has = (type: string): boolean => wanted.has(type);
  if (
    wanted.size > 0 &&
    !has(typeOf(value)) &&
    !(typeof value === "number" && Number.isInteger(value) && has("integer"))
  )
    return descend(repair, node, changeType(value, has, change), path);
  return descend(repair, node, value, path);
}

/** Writes a scalar or a JSON text as one of the types wanted, where there is just one way to. */
function changeType(value: unknown, has: (type: string) => boolean, change: (to: unknown) => unknown): unknown {
  if (typeof value === "string") {
    const text = value.trim();
    if (has("array") && text.startsWith("[")) {
      const read = readJson(text);
      if (read.ok && Array.isArray(read.value)) return change(read.value);
    }
    if (has("object") && text.startsWith("{")) {
      const read = readJson(text);
      if (read.ok && objectOf(read.value) !== undefined) return change(read.value);
    }
    if (has("boolean") && Object.hasOwn(BOOLEANS, text.toLowerCase())) return change(BOOLEANS[text.toLowerCase()]);
    const number = has("number") || has("integer") ? numberOf(text) : undefined;
    if (number !== undefined && (has("number") || Number.isInteger(number))) return change(number);
    if (has("null") && text.toLowerCase() === "null") return change(null);
  }
  if (has("boolean") && (value === 0 || value === 1)) return change(value === 1);
  if (has("string") && (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean"))
    return change(String(value));
  if (has("array") && value !== null) return change([value]);
  return value;
}

export const BOOLEANS: { readonly [text: string]: boolean } = {
  true: true,
  false: false,
  yes: true,
  no: false,
  "1": true,
  "0": false,
};
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A number that says what the text says: one that would be rounded stays a text. */
export function numberOf(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined;
  const value = exactNumber(text);
  return typeof value === "number" ? value : undefined;
}

function descend(repair: Repair, node: SchemaNode, value: unknown, path: string): unknown {
  if (Array.isArray(value)) return descendList(repair, node, value, path);
  const object = objectOf(value);
  return object === undefined ? value : descendObject(repair, node, object, path);
}

function descendList(repair: Repair, node: SchemaNode, value: readonly unknown[], path: string): unknown {
  const heads = Array.isArray(node.prefixItems) ? node.prefixItems : Array.isArray(node.items) ? node.items : [];
  const rest = Array.isArray(node.items) ? node.additionalItems : node.items;
  return value.map((item, i) => repairAt(repair, i < heads.length ? heads[i] : rest, item, join(path, String(i))));
}

function descendObject(repair: Repair, node: SchemaNode, value: SchemaNode, path: string): unknown {
  const properties = objectOf(node.properties);
  const required = new Set(Array.isArray(node.required) ? node.required : []);
  const entries: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    const at = join(path, key);
    const schema = own(properties, key);
    if (schema === undefined) {
      const rest = node.additionalProperties;
      if (rest === false && properties !== undefined && item === null) repair.done.push(`${at}: left out (null)`);
      else entries.push([key, objectOf(rest) === undefined ? item : repairAt(repair, rest, item, at)]);
    } else if (!required.has(key) && meansAbsent(item) && !fits(repair, schema, item)) {
      repair.done.push(`${at}: left out (${short(item)})`);
    } else {
      entries.push([key, repairAt(repair, schema, item, at)]);
    }
  }
  return Object.fromEntries(entries);
}

const PLACEHOLDERS: ReadonlySet<string> = new Set(["", "null", "none", "undefined"]);

/** What models write where they mean "not given". */
function meansAbsent(value: unknown): boolean {
  return (
    value === null || value === undefined || (typeof value === "string" && PLACEHOLDERS.has(value.trim().toLowerCase()))
  );
}

function typesOf(node: SchemaNode): ReadonlySet<string> {
  if (typeof node.type === "string") return new Set([node.type]);
  if (Array.isArray(node.type)) return new Set(node.type.map(String));
  if (Array.isArray(node.enum)) return new Set(node.enum.map(typeOf));
  if ("const" in node) return new Set([typeOf(node.const)]);
  if (objectOf(node.properties) !== undefined) return new Set(["object"]);
  return new Set();
}

/** Whether an integer that no double holds is left anywhere. */
export function holdsBigint(value: unknown): boolean {
  if (typeof value === "bigint") return true;
  if (typeof value !== "object" || value === null) return false;
  return (Array.isArray(value) ? value : Object.values(value)).some(holdsBigint);
}

function join(path: string, step: string): string {
  return path === "" ? step : `${path}.${step}`;
}

function short(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "object" && value !== null)
    return Array.isArray(value) ? `a list of ${value.length}` : "an object";
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 40 ? `${text.slice(0, 40)}...` : text;
}
