import { evalFreeValidator, type SchemaIssue, type ToolMetadata } from "@shedkit/tool";
import type { JsonValue } from "@shedkit/types";
import type { ToolSetProblem } from "./types.js";

/** The tool's defaults with the client's settings laid over them, key by key; those of each command, where it has some. */
export function mergeParams(metadata: ToolMetadata, own: { [key: string]: JsonValue } | undefined): JsonValue {
  const { defaults = {}, byCommand } = metadata.params ?? {};
  if (own === undefined || !isMap(defaults)) return defaults;
  if (!byCommand) return { ...defaults, ...own };
  const parts = Object.entries(own).map(([command, part]) => {
    const whole = Object.hasOwn(defaults, command) ? defaults[command] : undefined;
    return [command, isMap(whole) && isMap(part) ? { ...whole, ...part } : part] as const;
  });
  return { ...defaults, ...Object.fromEntries(parts) };
}

function isMap(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What is wrong with settings: with what the client gave, and with how it all goes together. */
export function checkParams(
  id: string,
  metadata: ToolMetadata,
  own: { [key: string]: JsonValue } | undefined,
): ToolSetProblem[] {
  const { params } = metadata;
  if (params === undefined) {
    return Object.keys(own ?? {}).map((key) => ({
      tool: id,
      category: "params_unknown_field",
      fieldPath: `params.${key}`,
      expected: "no settings",
      badValue: own?.[key],
      message: `It has no settings, so none named "${key}".`,
    }));
  }
  const merged = mergeParams(metadata, own);
  const issues = evalFreeValidator.compile(params.schema)(merged);
  if (issues.length > 0) return issues.map((issue) => fromIssue(id, issue, merged));
  return (params.check?.(merged) ?? []).map(({ field, message }) => ({
    tool: id,
    category: "params_constraint",
    fieldPath: field === "" ? "params" : `params.${field}`,
    badValue: valueAt(merged, field),
    message,
  }));
}

const CATEGORIES: { readonly [keyword: string]: string } = {
  additionalProperties: "params_unknown_field",
  required: "params_missing_field",
  type: "params_type",
  enum: "params_unknown_variant",
  const: "params_unknown_variant",
  anyOf: "params_unknown_variant",
};

function fromIssue(id: string, issue: SchemaIssue, params: JsonValue): ToolSetProblem {
  const badValue = valueAt(params, issue.path);
  return {
    tool: id,
    category: CATEGORIES[issue.keyword ?? ""] ?? "params_invalid",
    fieldPath: issue.path === "" ? "params" : `params.${issue.path}`,
    expected: issue.expected,
    ...(badValue === undefined ? {} : { badValue }),
    message: `params${issue.path === "" ? "" : `.${issue.path}`}: ${issue.message}.`,
  };
}

function valueAt(value: JsonValue, path: string): JsonValue | undefined {
  if (path === "") return value;
  let at: unknown = value;
  for (const step of path.split("."))
    at =
      typeof at === "object" && at !== null && Object.hasOwn(at, step)
        ? (at as { [key: string]: unknown })[step]
        : undefined;
  return at as JsonValue | undefined;
}
