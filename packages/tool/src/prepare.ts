import { functionSpec, type JsonSchema, type Tool, type ToolArguments, toolName } from "@shedkit/types";
import { ToolError } from "./error.js";
import { showIssues, showValue } from "./issues.js";
import { MAX_DEPTH, readJson } from "./json-text.js";
import { holdsBigint, repairValue } from "./repair.js";
import { objectOf, own, type SchemaNode } from "./schema/node.js";
import { evalFreeValidator } from "./schema/validator.js";
import type { SchemaIssue, SchemaValidator } from "./schema.js";

/** Arguments that fit the tool's schema. */
export interface PreparedArguments {
  readonly args: ToolArguments;
  /** What was repaired, one line each; empty where the model got it right. */
  readonly repaired: readonly string[];
}

/**
 * From what a model sent (an object, or the text that was to be one) to what the tool may be run with: checked as it
 * is; if that fails, repaired once by the schema and checked again.
 *
 * Give the text where there is one: an object that went through `JSON.parse` has its long integers rounded already,
 * and those are refused. `respell` may put parameters under the names that the schema has, saying what it changed.
 *
 * Throws ToolError `invalidArguments`, whose text names each field, what was wanted and what came.
 */
export function prepareArguments(
  tool: Tool,
  raw: unknown,
  validator: SchemaValidator = evalFreeValidator,
  respell?: ((args: ToolArguments, changed: string[]) => ToolArguments) | undefined,
): PreparedArguments {
  const name = toolName(tool);
  const repaired: string[] = [];
  const spelt = (read: unknown): unknown =>
    respell !== undefined && isPlainObject(read) ? respell(read, repaired) : read;
  let value = spelt(readArguments(name, raw, repaired));
  let schema = schemaFor(tool, value);
  const check = (candidate: unknown): readonly SchemaIssue[] => checkValue(schema, candidate, validator);
  if (isPlainObject(value) && check(value).length === 0) return { args: value, repaired };

  value = spelt(unwrap(tool, value, repaired));
  schema = schemaFor(tool, value);
  value = repairValue(schema, value, repaired, validator);
  const issues = check(value);
  if (isPlainObject(value) && issues.length === 0) return { args: value, repaired };
  throw refused(name, showIssues(issues));
}

/** Text to value, and what no tool should ever see taken out. */
function readArguments(name: string, raw: unknown, repaired: string[]): unknown {
  let value = raw;
  if (typeof value === "string") {
    if (value.trim() === "") return noArguments(repaired);
    const read = readJson(value);
    if (!read.ok) {
      throw new ToolError(
        "invalidArguments",
        name,
        `The arguments of ${name} must be one JSON object, but the text is ${read.problem}. Send the whole object again.`,
      );
    }
    if (read.mended !== undefined) repaired.push(read.mended);
    value = read.value;
    // A whole object that was written as a JSON string once more.
    if (typeof value === "string") {
      repaired.push("took the JSON out of a text");
      return readArguments(name, value, repaired);
    }
  }
  if (value === undefined || value === null) return noArguments(repaired);
  return cleaned({ name, exact: typeof raw === "string", repaired }, value, "", 0);
}

function noArguments(repaired: string[]): ToolArguments {
  repaired.push("took nothing as no arguments");
  return {};
}

interface Cleaning {
  readonly name: string;
  /** The value was read from text here, so its integers are what the model wrote. */
  readonly exact: boolean;
  readonly repaired: string[];
}

/**
 * The same value where nothing is wrong with it (no copy); without any `__proto__` key, which would set the prototype
 * of an object that a tool builds from it. An integer that may have been rounded on its way here is refused, and so is what is
 * no number.
 */
function cleaned(how: Cleaning, value: unknown, path: string, depth: number): unknown {
  if (typeof value === "number" && !how.exact && mayBeRounded(value))
    throw refused(how.name, `${path}: ${value} is too large to be sure that it is exact; send its digits as a string`);
  if (typeof value === "number" && !Number.isFinite(value))
    throw refused(how.name, `${path || "the arguments"}: wanted a number that JSON can hold, got ${value}`);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) throw refused(how.name, `they nest deeper than ${MAX_DEPTH}`);
  const at = (key: string | number): string => (path === "" ? String(key) : `${path}.${key}`);
  if (Array.isArray(value)) {
    const items = value.map((item, i) => cleaned(how, item, at(i), depth + 1));
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  let changed = false;
  const entries: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (key === "__proto__") {
      how.repaired.push("left out a key named __proto__");
      changed = true;
      continue;
    }
    const next = cleaned(how, item, at(key), depth + 1);
    changed ||= next !== item;
    entries.push([key, next]);
  }
  return changed ? Object.fromEntries(entries) : value;
}

/** From 1e21 on, numbers are written with an exponent: nobody's id. */
function mayBeRounded(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21;
}

function refused(name: string, lines: string): ToolError {
  return new ToolError(
    "invalidArguments",
    name,
    `The arguments of ${name} do not fit:\n- ${lines.replace(/^- /, "")}\nCall ${name} again with these mended.`,
  );
}

const WRAPPER_NAMES = ["name", "tool", "tool_name", "toolName", "function", "recipient_name"];
const WRAPPER_VALUES = ["arguments", "args", "parameters", "params", "input"];

/**
 * The keys under which a model may put the arguments of a tool where it writes an object that names the tool; none of them
 * is a parameter of it.
 */
export function wrapperKeys(tool: Tool): string[] {
  const { properties } = functionSpec(tool).parameters as SchemaNode;
  return [...WRAPPER_VALUES, "function", toolName(tool)].filter((key) => own(objectOf(properties), key) === undefined);
}

/** `{name: "read", arguments: {...}}` and `{"read": {...}}`, where the tool itself takes no such parameter. */
function unwrap(tool: Tool, value: unknown, repaired: string[]): unknown {
  const object = objectOf(value);
  if (object === undefined) return value;
  const name = toolName(tool);
  const known = objectOf((schemaFor(tool, value) as SchemaNode).properties);
  const take = (inner: unknown): unknown => {
    const read = typeof inner === "string" ? readJson(inner) : undefined;
    const opened = read?.ok ? read.value : inner;
    if (objectOf(opened) === undefined) return undefined;
    repaired.push(`took the arguments out of an object that names ${name}`);
    return opened;
  };
  const keys = Object.keys(object);
  if (keys.length === 1 && keys[0] === name && own(known, name) === undefined) return take(object[name]) ?? value;
  const inner = objectOf(own(object, "function"));
  if (keys.includes("function") && inner !== undefined && own(known, "function") === undefined)
    return unwrap(tool, inner, repaired);
  const naming = WRAPPER_NAMES.find((key) => own(object, key) === name && own(known, key) === undefined);
  const holding = WRAPPER_VALUES.find((key) => own(object, key) !== undefined && own(known, key) === undefined);
  if (naming === undefined || holding === undefined) return value;
  return take(object[holding]) ?? value;
}

/** The strict schema that decides: for several commands, that of the command named. */
function schemaFor(tool: Tool, value: unknown): JsonSchema {
  if (tool.type === "single") return tool.definition.arguments;
  const named = own(objectOf(value), "command");
  const command = tool.commands.find((candidate) => candidate.name === named);
  return command === undefined ? commandChoice(tool) : withCommand(command.arguments, command.name);
}

const choices = new WeakMap<Tool, JsonSchema>();
const strict = new WeakMap<JsonSchema, Map<string, JsonSchema>>();

function commandChoice(tool: Extract<Tool, { type: "multi" }>): JsonSchema {
  let schema = choices.get(tool);
  if (schema === undefined) {
    const names = tool.commands.map((command) => command.name);
    schema = { type: "object", properties: { command: { type: "string", enum: names } }, required: ["command"] };
    choices.set(tool, schema);
  }
  return schema;
}

function withCommand(schema: JsonSchema, name: string): JsonSchema {
  const byName = strict.get(schema) ?? new Map<string, JsonSchema>();
  strict.set(schema, byName);
  let whole = byName.get(name);
  if (whole === undefined) {
    const node = schema as SchemaNode;
    whole = { ...node, type: "object", properties: { ...objectOf(node.properties), command: { const: name } } };
    byName.set(name, whole);
  }
  return whole;
}

function checkValue(schema: JsonSchema, value: unknown, validator: SchemaValidator): readonly SchemaIssue[] {
  if (objectOf(value) === undefined)
    return [
      { path: "", expected: "an object", got: showValue(value), message: `wanted an object, got ${showValue(value)}` },
    ];
  if (holdsBigint(value)) return [...lostIntegers(value, "")];
  return validator.compile(schema)(value);
}

function* lostIntegers(value: unknown, path: string): Generator<SchemaIssue> {
  if (typeof value === "bigint") {
    const message = `${value} is too large to be held exactly as a number`;
    yield { path, expected: "a smaller whole number", got: String(value), message };
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) yield* lostIntegers(item, path === "" ? key : `${path}.${key}`);
  }
}

function isPlainObject(value: unknown): value is ToolArguments {
  return objectOf(value) !== undefined;
}
