/** The keywords that grammars are made from. */
export interface SchemaObject {
  $ref?: string;
  type?: string | readonly string[];
  const?: unknown;
  enum?: readonly unknown[];
  properties?: { [name: string]: Schema };
  required?: readonly string[];
  additionalProperties?: Schema;
  items?: Schema;
  prefixItems?: readonly Schema[];
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  allOf?: readonly Schema[];
}

export type Schema = SchemaObject | boolean | null | undefined;

/** The schema with one of its alternatives chosen. */
export function withAlternative(schema: SchemaObject, choice: Schema): Schema {
  const { anyOf: _any, oneOf: _one, ...rest } = schema;
  if (typeof choice !== "object" || choice === null || !constrains(rest)) return choice;
  if (choice.$ref !== undefined) return choice;
  return merge(rest, choice);
}

/** The schema with the schemas of its `allOf` taken in; `resolve` finds the ones that stand elsewhere. */
export function mergeAllOf(schema: SchemaObject, resolve: (ref: string) => Schema, depth = 8): SchemaObject {
  const { allOf = [], ...rest } = schema;
  let merged: SchemaObject = rest;
  for (const part of depth > 0 ? allOf : []) {
    const known = typeof part === "object" && part?.$ref !== undefined ? resolve(part.$ref) : part;
    if (typeof known === "object" && known !== null) merged = merge(merged, mergeAllOf(known, resolve, depth - 1));
  }
  return merged;
}

function constrains(schema: SchemaObject): boolean {
  return schema.type !== undefined || schema.properties !== undefined || schema.required !== undefined;
}

function merge(a: SchemaObject, b: SchemaObject): SchemaObject {
  const merged: SchemaObject = { ...a, ...b };
  if (a.properties && b.properties) merged.properties = { ...a.properties, ...b.properties };
  if (a.required && b.required) merged.required = [...new Set([...a.required, ...b.required])];
  return merged;
}
