import { type OutputUnit, Validator } from "@cfworker/json-schema";
import type { JsonSchema } from "@shedkit/types";
import { ToolError } from "./error.js";
import { showValue } from "./issues.js";
import type { SchemaIssue, SchemaValidator } from "./schema.js";
import { describeSchema, objectOf, own, resolveLocal, type SchemaNode, schemaDraft } from "./schema-text.js";

const compiled = new WeakMap<JsonSchema, (value: unknown) => readonly SchemaIssue[]>();

/**
 * Checks values without making code from strings, so that it runs where that is forbidden (edge workers, strict
 * content security policies). Draft-07 and 2020-12.
 */
export const evalFreeValidator: SchemaValidator = {
  compile(schema) {
    const known = compiled.get(schema);
    if (known !== undefined) return known;
    const check = compile(schema);
    compiled.set(schema, check);
    return check;
  },
};

function compile(schema: JsonSchema): (value: unknown) => readonly SchemaIssue[] {
  const draft = schemaDraft(schema);
  // The library writes on what it is given; and a schema object may carry symbols and functions.
  const copy = JSON.parse(JSON.stringify(schema)) as SchemaNode;
  let quick: Validator;
  let thorough: Validator;
  try {
    quick = new Validator(copy, draft, true);
    thorough = new Validator(copy, draft, false);
  } catch (e) {
    throw notASchema(e);
  }
  return (value) => {
    try {
      if (quick.validate(value).valid) return [];
      return toIssues(thorough.validate(value).errors, copy, value);
    } catch (e) {
      throw notASchema(e);
    }
  };
}

function notASchema(e: unknown): ToolError {
  const reason = e instanceof Error ? e.message.split("\n")[0] : String(e);
  return new ToolError("invalidArguments", "schema", `The schema is not valid: ${reason}`, { cause: e });
}

/** Keywords that only pass on what is wrong further in. */
const CONTAINERS: ReadonlySet<string> = new Set([
  "$ref",
  "$recursiveRef",
  "allOf",
  "properties",
  "patternProperties",
  "items",
  "prefixItems",
  "dependentSchemas",
]);
/** Keywords below which single failures say nothing: only that no form fits. */
const CHOICES: ReadonlySet<string> = new Set(["anyOf", "oneOf", "not", "if", "contains", "propertyNames"]);

function toIssues(units: readonly OutputUnit[], root: SchemaNode, value: unknown): readonly SchemaIssue[] {
  const choices = units.filter((unit) => CHOICES.has(unit.keyword)).map((unit) => `${unit.keywordLocation}/`);
  const issues = new Map<string, SchemaIssue>();
  for (const unit of units) {
    if (CONTAINERS.has(unit.keyword)) continue;
    if (choices.some((above) => unit.keywordLocation.startsWith(above))) continue;
    const issue = toIssue(unit, root, value);
    issues.set(`${issue.path}\n${issue.message}`, issue);
  }
  if (issues.size > 0) return [...issues.values()];
  return [{ path: "", expected: "another value", got: showValue(value), message: units[0]?.error ?? "does not fit" }];
}

function toIssue(unit: OutputUnit, root: SchemaNode, value: unknown): SchemaIssue {
  const steps = stepsOf(unit.instanceLocation);
  const at = valueAt(value, steps);
  const schema = schemaAt(root, unit.keywordLocation);
  const node = objectOf(schema.parent);
  const issue = (expected: string, got: unknown, path: readonly string[] = steps): SchemaIssue => {
    const shown = got === undefined ? "nothing" : showValue(got);
    return { path: path.join("."), expected, got: shown, message: `wanted ${expected}, got ${shown}` };
  };
  if (unit.keyword === "required") {
    // The library names the property in its text alone; the schema and the value say it better.
    const wanted = (Array.isArray(node?.required) ? node.required : []).find(
      (name) => typeof name === "string" && own(objectOf(at), name) === undefined,
    );
    if (typeof wanted === "string")
      return issue(describeSchema(root, own(objectOf(node?.properties), wanted)), undefined, [...steps, wanted]);
  }
  if (unit.keyword === "additionalProperties" || unit.keyword === "unevaluatedProperties") {
    const known = Object.keys(objectOf(node?.properties) ?? {});
    const expected = known.length === 0 ? "no parameter" : `only ${known.join(", ")}`;
    const path = steps.join(".");
    return { path, expected, got: showValue(at), message: `is not a known parameter (there is ${expected})` };
  }
  const wanted = limitText(unit.keyword, schema.value) ?? describeSchema(root, node);
  return issue(wanted, at);
}

/** What a keyword that limits a value wants. */
function limitText(keyword: string, limit: unknown): string | undefined {
  switch (keyword) {
    case "minimum":
      return `at least ${limit}`;
    case "maximum":
      return `at most ${limit}`;
    case "exclusiveMinimum":
      return `more than ${limit}`;
    case "exclusiveMaximum":
      return `less than ${limit}`;
    case "multipleOf":
      return `a multiple of ${limit}`;
    case "minLength":
      return `at least ${limit} characters`;
    case "maxLength":
      return `at most ${limit} characters`;
    case "pattern":
      return `text that matches ${limit}`;
    case "format":
      return `text of the format ${limit}`;
    case "minItems":
      return `at least ${limit} entries`;
    case "maxItems":
      return `at most ${limit} entries`;
    case "uniqueItems":
      return "entries that differ";
    case "minProperties":
      return `at least ${limit} properties`;
    case "maxProperties":
      return `at most ${limit} properties`;
    default:
      return undefined;
  }
}

function stepsOf(location: string): string[] {
  return location
    .split("/")
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"));
}

function valueAt(value: unknown, steps: readonly string[]): unknown {
  let at = value;
  for (const step of steps) at = Array.isArray(at) ? at[Number(step)] : own(objectOf(at), step);
  return at;
}

/** The keyword's value and the schema it stands in, following the references on the way. */
function schemaAt(root: SchemaNode, location: string): { parent: unknown; value: unknown } {
  let parent: unknown = root;
  let node: unknown = root;
  for (const step of stepsOf(location)) {
    parent = node;
    node = Array.isArray(node) ? node[Number(step)] : own(objectOf(node), step);
    if (step === "$ref" && typeof node === "string") node = resolveLocal(root, node);
  }
  return { parent, value: node };
}
