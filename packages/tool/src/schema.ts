import type { JsonSchema } from "@shedkit/types";

/** Any TypeBox 0.34 schema, structurally: no TypeBox in a consumer's compile. */
export interface TypedSchema {
  readonly params: unknown[];
  readonly static: unknown;
}

/** The type that a schema describes. */
export type Infer<S extends TypedSchema> = (S & { params: [] })["static"];

/** Where a value does not fit its schema. */
export interface SchemaIssue {
  /** Dotted: `items.0.name`; empty for the whole value. */
  path: string;
  /** The keyword of the schema that it breaks, where that is known. */
  keyword?: string | undefined;
  expected: string;
  got: string;
  message: string;
}

/** Compiles schemas to checks. A check returns no issue for a value that fits. */
export interface SchemaValidator {
  /** Throws ToolError `invalidArguments` where the schema itself is not valid. */
  compile(schema: JsonSchema): (value: unknown) => readonly SchemaIssue[];
}
