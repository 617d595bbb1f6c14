import { evalFreeValidator } from "@shedkit/tool";
import type { JsonSchema, JsonValue } from "@shedkit/types";
import { MODES } from "./capability.js";
import type { ToolSetProblem } from "./types.js";

const text: JsonSchema = { type: "string" };

const ENTRY: JsonSchema = {
  type: "object",
  properties: {
    id: text,
    params: { type: "object" },
    nameOverride: text,
    paramsNameOverrides: { type: "object", additionalProperties: text },
    descriptionOverride: text,
    behaviorVersion: text,
    kind: text,
  },
  required: ["id"],
  additionalProperties: false,
};

const CONFIG: JsonSchema = {
  type: "object",
  properties: { tools: { type: "array", items: ENTRY }, behaviorPreset: text, capability: { enum: MODES } },
  required: ["tools"],
  additionalProperties: false,
};

/**
 * What keeps a value, from a file for example, from being a configuration at all: fields of another type, or with names that
 * there are not. Empty for a `ToolSetConfig`, which may still ask for what there is not.
 */
export function configProblems(config: unknown): ToolSetProblem[] {
  const value = withoutUndefined(config);
  return evalFreeValidator
    .compile(CONFIG)(value)
    .map(({ path, expected, message }) => {
      const badValue = at(value, path);
      return {
        tool: toolAt(value, path),
        category: "config",
        fieldPath: path,
        expected,
        ...(badValue === undefined ? {} : { badValue }),
        message: `${path === "" ? "The configuration" : path}: ${message}.`,
      };
    });
}

/** What is undefined is not there. */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries.map(([key, part]) => [key, key === "params" ? part : withoutUndefined(part)]));
}

function at(value: unknown, path: string): JsonValue | undefined {
  let part = value;
  for (const step of path === "" ? [] : path.split("."))
    part = typeof part === "object" && part !== null ? (part as { [key: string]: unknown })[step] : undefined;
  return part as JsonValue | undefined;
}

function toolAt(value: unknown, path: string): string {
  const id = at(value, path.split(".").slice(0, 2).concat("id").join("."));
  return path.startsWith("tools.") && typeof id === "string" ? id : "(global)";
}
