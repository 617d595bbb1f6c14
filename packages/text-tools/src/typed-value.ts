import type { JsonValue, ToolFunctionSpec } from "@shedkit/types";
import { parsedJson } from "./call-events.js";
import type { Schema, SchemaObject } from "./schema-merge.js";

/** The schema of a tool's parameter; undefined where the tool or the parameter is not known. */
export function parameterSchema(tools: readonly ToolFunctionSpec[], tool: string, key: string): Schema {
  const parameters = tools.find(({ name }) => name === tool)?.parameters as SchemaObject | undefined;
  return parameters?.properties?.[key];
}

/** Whether a value of the schema may be a string, which is then written as it is, without quotes. */
export function mayBeText(schema: Schema): boolean {
  const types = typesOf(schema);
  return types === undefined || types.has("string");
}

/**
 * A value that was written without its type: what the schema takes for a string stays one, however it looks. Where the
 * schema says nothing, JSON is read as JSON.
 */
export function typedValue(text: string, schema: Schema): JsonValue {
  const types = typesOf(schema);
  if (types?.size === 1 && types.has("string")) return text;
  const trimmed = text.trim();
  const value = parsedJson(PYTHON[trimmed] ?? trimmed);
  if (value === undefined) return text;
  if (types === undefined) return typeof value === "object" && value !== null ? value : text;
  return types.has("string") && !types.has(typeOf(value)) && !(types.has("number") && typeof value === "number")
    ? text
    : value;
}

/** Models that learnt Python write its names now and then. */
const PYTHON: { [name: string]: string } = { True: "true", False: "false", None: "null" };

function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" ? (Number.isInteger(value) ? "integer" : "number") : typeof value;
}

/** The types that a schema allows; undefined where it does not say. */
function typesOf(schema: Schema): Set<string> | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  if (schema.type !== undefined) return new Set(typeof schema.type === "string" ? [schema.type] : schema.type);
  const values = schema.enum ?? ("const" in schema ? [schema.const] : undefined);
  if (values !== undefined) return new Set(values.map((value) => typeOf(value as JsonValue)));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices === undefined) return schema.properties ? new Set(["object"]) : undefined;
  const all = choices.map(typesOf);
  if (all.some((types) => types === undefined)) return undefined;
  return new Set(all.flatMap((types) => [...(types ?? [])]));
}
