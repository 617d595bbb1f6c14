import type { JsonSchema, JsonValue, ToolArguments } from "@shedkit/types";

/** A schema by the Standard Schema and Standard JSON Schema specifications, which the AI SDK reads. */
export interface AiSdkSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "shedkit";
    readonly types?: { readonly input: ToolArguments; readonly output: ToolArguments };
    validate(value: unknown): { value: ToolArguments };
    readonly jsonSchema: {
      input(): { [keyword: string]: unknown };
      output(): { [keyword: string]: unknown };
    };
  };
}

/** Tells a model the schema, and lets everything pass: our validation repairs, and says what to mend. */
export function schemaOf(schema: JsonSchema): AiSdkSchema {
  // The AI SDK closes every object, in place: it gets a copy.
  const told = () => leftOpen(structuredClone(schema)) as { [keyword: string]: unknown };
  return {
    "~standard": {
      version: 1,
      vendor: "shedkit",
      validate: (value) => ({ value: value as ToolArguments }),
      jsonSchema: { input: told, output: told },
    },
  };
}

/** Says of objects that name no property and take any that they do, in the one way that the AI SDK keeps. */
function leftOpen(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  const own = schema as { [keyword: string]: unknown };
  for (const part of Object.values(own)) leftOpen(part);
  const { type, properties, additionalProperties: others = true } = own;
  if (type === "object" && others === true && Object.keys(properties ?? {}).length === 0) own.additionalProperties = {};
  return own;
}

/** What the AI SDK gives to a model of a tool's result, as far as this package makes it. */
export type AiSdkModelOutput =
  | { type: "text" | "error-text"; value: string }
  | { type: "content"; value: AiSdkModelPart[] };

export type AiSdkModelPart =
  | { type: "text"; text: string }
  | {
      type: "file";
      data: { type: "data"; data: string } | { type: "url"; url: URL };
      mediaType: string;
      filename?: string;
    };

/** Any tool of the AI SDK. */
export interface AnyAiSdkTool {
  type?: string | undefined;
  isProviderExecuted?: boolean | undefined;
  description?: string | ((options: never) => string) | undefined;
  /** A schema of zod, of any library of the Standard Schema, or the AI SDK's own. */
  inputSchema: unknown;
  execute?: ((input: never, options: never) => unknown) | undefined;
  toModelOutput?: ((options: never) => unknown) | undefined;
  needsApproval?: boolean | ((input: never, options: never) => unknown) | undefined;
}

/** A value as JSON holds it: what a tool of the AI SDK gives may be any. */
export function asJson(value: unknown): JsonValue | undefined {
  const json = JSON.stringify(value);
  return json === undefined ? undefined : (JSON.parse(json) as JsonValue);
}
