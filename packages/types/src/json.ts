/** Any JSON value. Readonly, so that literals and frozen data are assignable. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** A JSON Schema, draft-07 or 2020-12. TypeBox schemas are assignable. */
export type JsonSchema = object;

/** The arguments of a tool call: exactly what the model sent, unconverted. */
export type ToolArguments = { [key: string]: JsonValue };

/**
 * What one provider needs back and nobody else reads: reasoning item ids, phases, cache marks.
 * Keyed by provider id.
 */
export type ProviderData = { readonly [provider: string]: JsonValue };
